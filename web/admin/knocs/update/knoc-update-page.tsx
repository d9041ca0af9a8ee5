import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useParams } from 'wouter'
import { Banner } from '../../../components/banner.tsx'
import { Button } from '../../../components/button.tsx'
import { PageHeader } from '../../../components/page-header.tsx'
import { Tabs } from '../../../components/tabs.tsx'
import { useErrorText } from '../../../i18n/use-error-text.ts'
import { PageLoading } from '../../../shell/page-loading.tsx'
import { queries } from '../../admin-queries.ts'
import { findKnocType } from '../knoc-types.ts'
import { NoLicence } from '../no-licence.tsx'
import { MembersTab } from './members-tab.tsx'
import { OptionsTab } from './options-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { useKnocUpdate } from './use-knoc-update.ts'

/** One knoc's settings, options and users, each tab saved by itself. Console §2 "Update". */
export function KnocUpdatePage() {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { knocId } = useParams<{ knocId: string }>()
  const status = useQuery(queries.status).data
  // What is typed stands on what was read; it is read anew only when that is asked for.
  const knoc = useQuery({ ...queries.knoc(knocId), staleTime: Number.POSITIVE_INFINITY, gcTime: 0 })
  const update = useKnocUpdate(knoc.data)
  const detail = knoc.data?.data
  const type = detail && findKnocType(detail.BackendType)
  const header = (
    <PageHeader
      title={t('admin.update.title', { name: detail?.Name ?? '' })}
      back={{ href: '/admin/knocs', label: t('admin.knocs.title') }}
    />
  )
  if (status && !status.Licensing.Licensed)
    return (
      <>
        {header}
        <NoLicence site={status.LicenceSite} />
      </>
    )
  if (knoc.error && detail === undefined)
    return (
      <>
        {header}
        <Banner
          tone="danger"
          title={errors.ofError(knoc.error)}
          action={
            <Button size="sm" onClick={() => void knoc.refetch()}>
              {t('kit.retry')}
            </Button>
          }
        />
      </>
    )
  if (detail === undefined || status === undefined) return <PageLoading />
  const common = { detail, ...update }
  return (
    <>
      {header}
      {update.isOutdated ? (
        <Banner
          tone="warn"
          title={t('err.changedMeanwhile')}
          action={
            <Button
              size="sm"
              onClick={() => {
                update.forget()
                void knoc.refetch()
              }}
            >
              {t('admin.update.reload')}
            </Button>
          }
        >
          {t('admin.update.reloadText')}
        </Banner>
      ) : null}
      {type ? (
        <Tabs
          // Another version of the knoc makes the forms start anew.
          key={knoc.data?.etag ?? detail.LastModifiedAt}
          label={t('admin.update.tabs')}
          keepMounted
          tabs={[
            {
              id: 'settings',
              label: t('admin.step.settings'),
              content: <SettingsTab type={type} {...common} />,
            },
            { id: 'options', label: t('admin.step.options'), content: <OptionsTab {...common} /> },
            { id: 'users', label: t('admin.update.users'), content: <MembersTab {...common} /> },
          ]}
        />
      ) : (
        <Banner tone="warn" title={t('admin.update.unknownType', { type: detail.BackendType })} />
      )}
    </>
  )
}
