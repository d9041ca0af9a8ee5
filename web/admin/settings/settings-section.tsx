import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'

type Props<Data> = {
  title: string
  text?: string | undefined
  /** Beside the heading: a link to read more. */
  actions?: ReactNode
  query: { data: Data | undefined; error: unknown; refetch: () => Promise<unknown> }
  children: (data: Data) => ReactNode
}

/** One section of the settings: its heading, and its form once what is stored has been read. */
export function SettingsSection<Data>({ title, text, actions, query, children }: Props<Data>) {
  const { t } = useTranslation()
  const errors = useErrorText()
  return (
    <Card className="flex max-w-5xl flex-col gap-5">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
        <div className="min-w-0">
          <h2 className="text-lg font-bold tracking-tight text-ink">{title}</h2>
          {text ? <p className="mt-1 max-w-2xl text-[0.9375rem] text-muted">{text}</p> : null}
        </div>
        {actions}
      </div>
      {query.data !== undefined ? (
        children(query.data)
      ) : query.error ? (
        <Banner
          tone="danger"
          title={errors.ofError(query.error)}
          action={
            <Button size="sm" onClick={() => void query.refetch()}>
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
