import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { WizardDefinition, wizardMachine } from '#machines/knoc-wizard.machine.ts'
import { PageHeader } from '../../../components/page-header.tsx'
import { PageLoading } from '../../../shell/page-loading.tsx'
import { queries } from '../../admin-queries.ts'
import type { KnocType } from '../knoc-types.ts'
import { NoLicence } from '../no-licence.tsx'
import { WizardBody } from './wizard-body.tsx'

/** What a wizard is made of: its kind of knoc, its steps as data, and the machine derived from them. */
export type WizardParts = {
  type: KnocType
  definition: WizardDefinition
  machine: ReturnType<typeof wizardMachine>
}

/** A wizard's page; without a licence the alert and no wizard. Console §2 "Common wizard rules". */
export function KnocWizard(parts: WizardParts) {
  const { t } = useTranslation()
  const status = useQuery(queries.status).data
  if (status === undefined) return <PageLoading />
  return (
    <>
      <PageHeader
        title={t('admin.wizard.title', { type: t(`knocType.${parts.type.key}`) })}
        back={{ href: '/admin/knocs/new', label: t('admin.knocs.newTitle') }}
      />
      {status.Licensing.Licensed ? <WizardBody {...parts} /> : <NoLicence site={status.LicenceSite} />}
    </>
  )
}
