import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { endAdminSession } from '../admin-api.ts'
import { pollMs, queries, stale } from '../admin-queries.ts'
import { Facts } from '../components/facts.tsx'
import { Instant } from '../components/instant.tsx'
import { NamedList } from '../components/named-list.tsx'
import { secondFactorState } from '../people/person-rules.ts'
import { useAdminAction } from '../use-admin-action.ts'

/** One administrator: details, and sessions with login time and address, each of which can be ended. Console §2. */
export function AdminDetailDialog({ admin, onClose }: { admin: AdminRow | undefined; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog
      open={admin !== undefined}
      onClose={onClose}
      title={admin?.Name ?? ''}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('admin.done')}
        </Button>
      }
    >
      {admin ? (
        <div className="flex flex-col gap-7 pb-3">
          <Details admin={admin} />
          <Sessions adminId={admin.ID} />
        </div>
      ) : null}
    </Dialog>
  )
}

function Details({ admin }: { admin: AdminRow }) {
  const { t } = useTranslation()
  return (
    <Facts
      facts={[
        { label: t('admin.users.userName'), value: admin.UserName },
        { label: t('admin.users.authType'), value: t(`admin.authType.${admin.AuthType}`) },
        { label: t('admin.people.dn'), value: admin.AuthType === 'LDAP' ? admin.DN || '-' : null },
        { label: t('admin.totp.enabled'), value: t(`admin.totp.state.${secondFactorState(admin)}`) },
        { label: t('admin.admins.passkeys'), value: admin.Passkeys },
        { label: t('admin.users.loginEnabled'), value: t(admin.LoginEnabled ? 'admin.yes' : 'admin.no') },
        {
          label: t('admin.users.lastLogin'),
          value: admin.LastLogin ? <Instant at={admin.LastLogin} /> : t('admin.users.never'),
        },
        { label: t('admin.users.createdAt'), value: <Instant at={admin.CreatedAt} /> },
      ]}
    />
  )
}

function Sessions({ adminId }: { adminId: string }) {
  const { t } = useTranslation()
  const sessions = useQuery({
    ...queries.adminSessions(adminId),
    refetchInterval: pollMs.users,
    staleTime: 0,
  })
  const end = useAdminAction({
    run: endAdminSession,
    stale: [stale.admins, stale.status],
    done: 'admin.admins.sessionEnded',
  })
  return (
    <NamedList
      title={t('admin.users.sessions')}
      query={sessions}
      empty={t('admin.users.noSessions')}
      rowOf={({ ID, Created, IPAddress, Current }) => (
        <li key={ID} className="flex items-center gap-3 py-1.5 pr-1 pl-3.5">
          <span className="min-w-0 flex-1 text-[0.9375rem] text-ink">
            <Instant at={Created} />
            <span className="block font-mono text-sm break-all text-muted">{IPAddress}</span>
          </span>
          {Current ? <Badge tone="accent">{t('admin.admins.current')}</Badge> : null}
          <IconButton
            icon={Trash2}
            tone="danger"
            label={
              Current ? t('admin.admins.endOwnSession') : t('admin.users.endSession', { address: IPAddress })
            }
            disabled={end.isPending}
            onClick={() => end.mutate(ID)}
          />
        </li>
      )}
    />
  )
}
