import { ExternalLink } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Badge } from '../../components/badge.tsx'
import { iconByName } from '../../components/icons.ts'

type Props = { description: string; url: string; category: string; icon: string }

/** The entry about as its users will see it, drawn while it is typed. */
export function KnocPreview({ description, url, category, icon }: Props) {
  const { t } = useTranslation()
  const Icon = iconByName(icon)
  const isLink = /^https?:\/\/[^\s]+$/i.test(url.trim())
  return (
    <div className="flex flex-col gap-3">
      <p className="text-sm font-semibold text-muted">{t('admin.preview.title')}</p>
      <div className="flex flex-col gap-4 rounded-2xl border border-line bg-surface p-5 shadow-mid">
        <div className="flex items-start gap-3.5">
          <span className="flex size-12 shrink-0 items-center justify-center rounded-xl bg-accent-soft text-accent-ink">
            <Icon aria-hidden="true" className="size-6" />
          </span>
          <div className="min-w-0 flex-1">
            <p className="font-bold break-words text-ink">
              {description.trim() || <span className="text-muted italic">{t('admin.preview.noName')}</span>}
              {isLink ? (
                <ExternalLink aria-hidden="true" className="ml-1.5 inline size-4 text-accent-ink" />
              ) : null}
            </p>
            {url.trim() ? <p className="mt-0.5 text-sm break-all text-muted">{url.trim()}</p> : null}
          </div>
        </div>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <Badge>
            {category.trim() === '' || category.trim() === 'Default' ? t('home.other') : category.trim()}
          </Badge>
          <Badge tone="ok">{t('status.granted')}</Badge>
        </div>
      </div>
      <p className="text-sm text-muted">{t('admin.preview.text')}</p>
    </div>
  )
}
