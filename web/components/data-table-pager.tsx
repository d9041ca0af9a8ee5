import { ChevronLeft, ChevronRight } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from './icon-button.tsx'
import { Select } from './select.tsx'

/** Rows a page can have. */
const sizes = [10, 25, 50, 100] as const

type Props = {
  page: number
  pages: number
  onPage: (page: number) => void
  /** How many rows there are, in words. */
  summary: string
  /** Undefined: the size is fixed. */
  size: number | undefined
  onSize: (size: number) => void
}

/** How many rows there are, and the way through their pages. */
export function DataTablePager({ page, pages, onPage, summary, size, onSize }: Props) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 text-sm text-muted">
      <output>{summary}</output>
      {pages > 1 ? (
        <nav aria-label={summary} className="flex items-center gap-1.5">
          <IconButton
            icon={ChevronLeft}
            label={t('kit.previousPage')}
            disabled={page === 0}
            onClick={() => onPage(page - 1)}
          />
          <span className="tabular-nums">{t('kit.pageOf', { page: page + 1, pages })}</span>
          <IconButton
            icon={ChevronRight}
            label={t('kit.nextPage')}
            disabled={page >= pages - 1}
            onClick={() => onPage(page + 1)}
          />
        </nav>
      ) : null}
      {size !== undefined && (pages > 1 || size !== sizes[0]) ? (
        <Select
          label={t('kit.rowsPerPage')}
          labelHidden
          value={size}
          onChange={onSize}
          options={sizes.map((value) => ({ value, label: `${value} · ${t('kit.rowsPerPage')}` }))}
          className="w-52"
        />
      ) : null}
    </div>
  )
}
