import { Search, X } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'
import { inputClass } from './input.tsx'

type Props = {
  /** What is searched; spoken, and shown as the placeholder. */
  label: string
  value: string
  onChange: (value: string) => void
  className?: string | undefined
}

/** A search box; Escape empties it. */
export function SearchField({ label, value, onChange, className }: Props) {
  const { t } = useTranslation()
  return (
    <search className={cx('relative block', className)}>
      <Search
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 left-3.5 size-4 -translate-y-1/2 text-muted"
      />
      <input
        type="text"
        inputMode="search"
        aria-label={label}
        placeholder={label}
        value={value}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || value === '') return
          event.stopPropagation()
          onChange('')
        }}
        className={cx(inputClass, 'pr-11 pl-10')}
      />
      {value === '' ? null : (
        <button
          type="button"
          aria-label={t('kit.searchClear')}
          onClick={() => onChange('')}
          className="absolute inset-y-1 right-1 flex w-9 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink"
        >
          <X aria-hidden="true" className="size-4" />
        </button>
      )}
    </search>
  )
}
