import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { LicenceStatus } from '#server/licence/licence.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Progress } from '../../components/progress.tsx'
import { refreshLicence, removeLicence } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { Facts } from '../components/facts.tsx'
import { Instant } from '../components/instant.tsx'
import { useAdminAction } from '../use-admin-action.ts'
import type { LicenceFacts } from './licence-facts.ts'
import { LicenceKeyForm } from './licence-key-form.tsx'

type Props = {
  open: boolean
  onClose: () => void
  licence: LicenceStatus
  facts: LicenceFacts
  site: string | null
}

/** The licence in full: what is used of it, when it ends, and how to renew or remove it. Console §2 "Settings". */
export function LicenceDialog({ open, onClose, licence, facts, site }: Props) {
  const { t } = useTranslation()
  const [isRemoving, setIsRemoving] = useState(false)
  const refresh = useAdminAction<void>({
    run: refreshLicence,
    stale: [stale.licence, stale.status],
    done: 'admin.licence.refreshed',
  })
  const remove = useAdminAction<void>({
    run: removeLicence,
    stale: [stale.licence, stale.status, stale.users, stale.knocs],
    done: 'admin.licence.removed',
    onFailed: () => {},
    onDone: () => {
      setIsRemoving(false)
      onClose()
    },
  })
  return (
    <>
      <Dialog
        open={open && !isRemoving}
        onClose={onClose}
        title={t('admin.licence.title')}
        footer={
          <Button variant="primary" onClick={onClose}>
            {t('kit.close')}
          </Button>
        }
      >
        <div className="flex flex-col gap-5 pb-2">
          {facts.isOverLimit ? (
            <Banner tone="warn" title={t('admin.licence.over')}>
              {t('admin.licence.overText')}
            </Banner>
          ) : null}
          {facts.userLimit === null ? null : (
            <Progress
              label={t('admin.licence.usersOf', { users: facts.users, limit: facts.userLimit })}
              value={facts.users}
              max={facts.userLimit}
              tone={facts.isOverLimit ? 'warn' : 'accent'}
            />
          )}
          <Facts facts={useLicenceFacts(licence, facts)} />
          <p className="text-sm text-muted">{t('admin.licence.adminsFree')}</p>
          <div className="flex flex-wrap items-center gap-2 border-t border-line pt-4">
            <IconButton
              icon={RefreshCw}
              label={t('admin.licence.refresh')}
              disabled={refresh.isPending}
              onClick={() => refresh.mutate()}
            />
            {site === null ? null : (
              <a href={site} target="_blank" rel="noreferrer" className="link text-[0.9375rem]">
                {t('banner.link.licence')}
              </a>
            )}
            <Button
              variant="quiet"
              className="ml-auto text-danger!"
              onClick={() => {
                remove.reset()
                setIsRemoving(true)
              }}
            >
              {t('admin.licence.remove')}
            </Button>
          </div>
          <details className="rounded-xl border border-line px-4 py-3">
            <summary className="min-h-6 font-semibold text-ink">{t('admin.licence.replace')}</summary>
            <div className="pt-4">
              <LicenceKeyForm onSaved={onClose} />
            </div>
          </details>
        </div>
      </Dialog>
      <ConfirmDialog
        open={open && isRemoving}
        onClose={() => setIsRemoving(false)}
        onConfirm={() => remove.mutate()}
        title={t('admin.licence.removeTitle')}
        text={t('admin.licence.removeText')}
        confirmLabel={t('admin.licence.remove')}
        danger
        busy={remove.isPending}
        error={remove.error}
      />
    </>
  )
}

function useLicenceFacts(licence: LicenceStatus, facts: LicenceFacts) {
  const { t } = useTranslation()
  return [
    {
      label: t('admin.licence.users'),
      value:
        facts.userLimit === null
          ? t('admin.licence.usersOnly', { count: facts.users })
          : t('admin.licence.usersOf', { users: facts.users, limit: facts.userLimit }),
    },
    {
      label: t('admin.licence.ends'),
      value:
        licence.Expires === null ? (
          t('admin.licence.noEnd')
        ) : (
          <>
            <Instant at={licence.Expires} dateOnly /> ({t('admin.licence.days', { count: facts.days ?? 0 })})
          </>
        ),
    },
    {
      label: t('admin.licence.sessions'),
      value: licence.SessionLimit ?? t('admin.licence.unlimited'),
    },
    {
      label: t('admin.licence.machines'),
      value:
        facts.maxMachines === null
          ? String(facts.machines)
          : t('admin.licence.machinesOf', { count: facts.machines, max: facts.maxMachines }),
    },
    {
      label: t('admin.licence.id'),
      value: licence.ID === null ? null : <code className="font-mono text-sm break-all">{licence.ID}</code>,
    },
  ]
}
