import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { PageHeader } from '../../components/page-header.tsx'
import { queries } from '../admin-queries.ts'
import { KnocTypeCards } from './knoc-type-cards.tsx'
import { NoLicence } from './no-licence.tsx'

/** Which kind of knoc to make. Console §2 "Chooser". */
export function KnocChooserPage() {
  const { t } = useTranslation()
  const status = useQuery(queries.status).data
  return (
    <>
      <PageHeader
        title={t('admin.knocs.newTitle')}
        description={t('admin.knocs.newLead')}
        back={{ href: '/admin/knocs', label: t('admin.knocs.title') }}
      />
      {status && !status.Licensing.Licensed ? <NoLicence site={status.LicenceSite} /> : <KnocTypeCards />}
    </>
  )
}
