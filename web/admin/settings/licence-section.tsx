import { useQuery } from '@tanstack/react-query'
import { BadgeCheck, BadgeX, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { LicenceStatus } from '#server/licence/licence.schema.ts'
import type { AdminStatus } from '#server/status/status.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { queries } from '../admin-queries.ts'
import { LicenceDialog } from './licence-dialog.tsx'
import { licenceFacts } from './licence-facts.ts'
import { LicenceKeyForm } from './licence-key-form.tsx'

/** The licence: its state and the server's version; a field for the key, or a summary that opens the details. */
export function LicenceSection() {
  const { t } = useTranslation()
  const errors = useErrorText()
  const licence = useQuery({ ...queries.licence, staleTime: 0 })
  const status = useQuery(queries.status).data
  return (
    <Card className="flex max-w-5xl flex-col gap-5">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-lg font-bold tracking-tight text-ink">{t('admin.licence.title')}</h2>
        {licence.data ? <StatusBadge licensed={licence.data.Licensed} /> : null}
      </div>
      {status ? (
        <p className="text-[0.9375rem] text-muted">
          {t('admin.nav.version', { version: status.ServerVersion })}
        </p>
      ) : null}
      {licence.data && status ? (
        <LicenceBody licence={licence.data} status={status} />
      ) : licence.error ? (
        <Banner
          tone="danger"
          title={errors.ofError(licence.error)}
          action={
            <Button size="sm" onClick={() => void licence.refetch()}>
              {t('kit.retry')}
            </Button>
          }
        />
      ) : (
        <Skeleton className="h-20" />
      )}
    </Card>
  )
}

function StatusBadge({ licensed }: { licensed: boolean }) {
  const { t } = useTranslation()
  return (
    <Badge tone={licensed ? 'ok' : 'warn'} icon={licensed ? BadgeCheck : BadgeX}>
      {t(licensed ? 'admin.licence.licensed' : 'admin.licence.unlicensed')}
    </Badge>
  )
}

function LicenceBody({ licence, status }: { licence: LicenceStatus; status: AdminStatus }) {
  const { t } = useTranslation()
  const [isOpen, setIsOpen] = useState(false)
  if (!licence.Licensed)
    return (
      <>
        <p className="text-[0.9375rem] text-muted">
          {t('banner.unlicensed.body')}{' '}
          {status.LicenceSite === null ? null : (
            <a href={status.LicenceSite} target="_blank" rel="noreferrer" className="link">
              {t('banner.link.licence')}
            </a>
          )}
        </p>
        <LicenceKeyForm />
      </>
    )
  const facts = licenceFacts(licence, status, Date.parse(status.Now))
  const parts = [
    facts.userLimit === null
      ? t('admin.licence.usersOnly', { count: facts.users })
      : t('admin.licence.usersOf', { users: facts.users, limit: facts.userLimit }),
    facts.days === null ? t('admin.licence.noEnd') : t('admin.licence.days', { count: facts.days }),
  ]
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => setIsOpen(true)}
        className="flex w-full items-center gap-4 rounded-xl border border-line bg-sunken px-4 py-3.5 text-left transition-colors duration-150 hover:border-control"
      >
        <BadgeCheck aria-hidden="true" className="size-6 shrink-0 text-ok" />
        <span className="min-w-0 flex-1">
          <span className="block font-semibold text-ink">{parts.join(' · ')}</span>
          <span className="block text-sm text-muted">{t('admin.licence.open')}</span>
        </span>
        <ChevronRight aria-hidden="true" className="size-5 shrink-0 text-muted" />
      </button>
      <LicenceDialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
        licence={licence}
        facts={facts}
        site={status.LicenceSite}
      />
    </>
  )
}
