import { ArrowRight, Server } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { knocTypes } from './knoc-types.ts'

const icons = { LINUX: Server } as const

/** The kinds of knoc to choose from, each leading to its wizard. */
export function KnocTypeCards() {
  const { t } = useTranslation()
  return (
    <ul className="grid gap-4 sm:grid-cols-2 xl:grid-cols-3">
      {knocTypes.map(({ key, path }) => {
        const Icon = icons[key]
        return (
          <li key={key}>
            <Link
              href={path}
              className="group flex h-full flex-col gap-4 rounded-2xl border border-line bg-surface p-6 text-left shadow-low transition-[border-color,box-shadow] duration-150 hover:border-accent hover:shadow-mid"
            >
              <span className="flex size-12 items-center justify-center rounded-xl bg-accent-soft text-accent-ink">
                <Icon aria-hidden="true" className="size-6" />
              </span>
              <span className="flex flex-col gap-1">
                <span className="text-lg font-bold tracking-tight text-ink">{t(`knocType.${key}`)}</span>
                <span className="text-[0.9375rem] text-muted">{t(`knocType.${key}.text`)}</span>
              </span>
              <span className="mt-auto inline-flex items-center gap-1.5 text-sm font-semibold text-accent-ink">
                {t('admin.knocs.start')}
                <ArrowRight
                  aria-hidden="true"
                  className="size-4 transition-transform duration-150 group-hover:translate-x-0.5"
                />
              </span>
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
