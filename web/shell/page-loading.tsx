import { useTranslation } from 'react-i18next'
import { Spinner } from '../components/spinner.tsx'

/** A page on its way. */
export function PageLoading() {
  const { t } = useTranslation()
  return (
    <div className="flex flex-1 items-center justify-center p-16 text-muted">
      <Spinner label={t('kit.loading')} className="size-7" />
    </div>
  )
}
