import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { endSession } from '../admin-api.ts'
import { pollMs, queries, stale } from '../admin-queries.ts'
import { Facts } from '../components/facts.tsx'
import { Instant } from '../components/instant.tsx'
import { NamedList } from '../components/named-list.tsx'
import { secondFactorState } from '../people/person-rules.ts'
import { useAdminAction } from '../use-admin-action.ts'

/** One user: details, groups, knocs, and sessions, each of which can be ended. Console §2 "Users". */
export function UserDetailDialog({ user, onClose }: { user: UserRow | undefined; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Dialog
      open={user !== undefined}
      onClose={onClose}
      size="lg"
      title={user?.Name ?? ''}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('admin.done')}
        </Button>
      }
    >
      {user ? (
        <div className="flex flex-col gap-7 pb-3">
          <Details user={user} />
          <Sessions userId={user.ID} />
          <Knocs userId={user.ID} />
          <Groups userId={user.ID} />
        </div>
      ) : null}
    </Dialog>
  )
}

function Details({ user }: { user: UserRow }) {
  const { t } = useTranslation()
  return (
    <Facts
      facts={[
        { label: t('admin.users.userName'), value: user.UserName },
        { label: t('admin.users.company'), value: user.Company || '-' },
        { label: t('admin.users.authType'), value: t(`admin.authType.${user.AuthType}`) },
        { label: t('admin.people.dn'), value: user.AuthType === 'LDAP' ? user.ThirdPartyAuth || '-' : null },
        { label: t('admin.totp.enabled'), value: t(`admin.totp.state.${secondFactorState(user)}`) },
        { label: t('admin.users.durationColumn'), value: t('admin.minutes', { count: user.Duration }) },
        {
          label: t('admin.users.sessionLimit'),
          value: user.SessionLimit ?? t('admin.users.sessionLimitLicence'),
        },
        {
          label: t('admin.users.validUntil'),
          value: user.ValidUntil ? <Instant at={user.ValidUntil} dateOnly /> : t('admin.users.unlimited'),
        },
        {
          label: t('admin.users.lastLogin'),
          value: user.LastLogin ? <Instant at={user.LastLogin} /> : t('admin.users.never'),
        },
        { label: t('admin.users.createdAt'), value: <Instant at={user.CreatedAt} /> },
        {
          label: t('admin.users.loginEnabled'),
          value: t(user.LoginEnabled ? 'admin.yes' : 'admin.no'),
        },
        { label: t('admin.users.licence'), value: user.Licensed ? null : t('admin.users.unlicensed') },
      ]}
    />
  )
}

function Sessions({ userId }: { userId: string }) {
  const { t } = useTranslation()
  const sessions = useQuery({ ...queries.userSessions(userId), refetchInterval: pollMs.users, staleTime: 0 })
  const end = useAdminAction({
    run: endSession,
    stale: [stale.users, stale.status],
    done: 'admin.users.sessionEnded',
  })
  return (
    <NamedList
      title={t('admin.users.sessions')}
      query={sessions}
      empty={t('admin.users.noSessions')}
      rowOf={(session) => (
        <li key={session.ID} className="flex items-center gap-3 py-1.5 pr-1 pl-3.5">
          <span className="min-w-0 flex-1 text-[0.9375rem] text-ink">
            <span className="font-mono text-sm">{session.IPAddress}</span>
            <span className="block text-sm text-muted">
              <Instant at={session.Created} /> – <Instant at={session.Ends} />
            </span>
          </span>
          <IconButton
            icon={Trash2}
            tone="danger"
            label={t('admin.users.endSession', { address: session.IPAddress })}
            disabled={end.isPending}
            onClick={() => end.mutate(session.ID)}
          />
        </li>
      )}
    />
  )
}

function Knocs({ userId }: { userId: string }) {
  const { t } = useTranslation()
  return (
    <NamedList
      title={t('admin.users.knocs')}
      query={useQuery(queries.userAcls(userId))}
      empty={t('admin.users.noKnocs')}
      rowOf={({ ID, Description, Direct, Groups: groups }) => (
        <li key={ID} className="flex flex-wrap items-center gap-2 px-3.5 py-2 text-[0.9375rem] text-ink">
          <span className="mr-auto">{Description}</span>
          {Direct ? <Badge tone="accent">{t('admin.users.direct')}</Badge> : null}
          {groups.map((group) => (
            <Badge key={group}>{t('admin.users.byGroup', { group })}</Badge>
          ))}
        </li>
      )}
    />
  )
}

function Groups({ userId }: { userId: string }) {
  const { t } = useTranslation()
  return (
    <NamedList
      title={t('admin.users.groups')}
      query={useQuery(queries.userGroups(userId))}
      empty={t('admin.users.noGroups')}
      rowOf={({ ID, Name, Description }) => (
        <li key={ID} className="px-3.5 py-2 text-[0.9375rem] text-ink">
          {Name}
          {Description ? <span className="block text-sm text-muted">{Description}</span> : null}
        </li>
      )}
    />
  )
}
