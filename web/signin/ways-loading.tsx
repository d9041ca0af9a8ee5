import { useTranslation } from 'react-i18next'
import { Skeleton } from '../components/skeleton.tsx'

/** What stands on a login page while its ways in are being asked for. */
export function WaysLoading() {
  const { t } = useTranslation()
  return (
    <output aria-label={t('kit.loading')} className="flex flex-col gap-5">
      <Skeleton className="h-12 w-full" />
      <Skeleton className="h-12 w-full" />
    </output>
  )
}
