import { useTranslation } from 'react-i18next'
import { Skeleton } from '../components/skeleton.tsx'

/** The dashboard's outline while its status is on the way. */
export function HomeLoading() {
  const { t } = useTranslation()
  return (
    <main
      aria-busy="true"
      className="mx-auto grid w-full max-w-[124rem] gap-6 px-4 py-6 sm:px-6 lg:grid-cols-[19rem_1fr] lg:px-8"
    >
      <output className="sr-only">{t('kit.loading')}</output>
      <Skeleton className="h-40 rounded-3xl lg:h-96 lg:rounded-t-[9rem]" />
      <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,18.5rem),1fr))] content-start gap-4">
        {[0, 1, 2, 3, 4, 5].map((card) => (
          <Skeleton key={card} className="h-44 rounded-2xl" />
        ))}
      </div>
    </main>
  )
}
