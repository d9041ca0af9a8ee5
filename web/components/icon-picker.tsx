import { Check } from 'lucide-react'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { isTextKey } from '../i18n/start-i18n.ts'
import { cx } from './class-names.ts'
import { Dialog } from './dialog.tsx'
import { FieldError } from './field-frame.tsx'
import { iconNames } from './icons.ts'
import { inputClass } from './input.tsx'
import { NamedIcon } from './named-icon.tsx'
import { SearchField } from './search-field.tsx'

type Props = {
  label: string
  /** Lucide name as stored. */
  value: string
  onChange: (name: string) => void
  error?: string | undefined
}

/** A button with the chosen icon; it opens a searchable grid of all. */
export function IconPicker({ label, value, onChange, error }: Props) {
  const { t, i18n } = useTranslation()
  const [isOpen, setIsOpen] = useState(false)
  const [search, setSearch] = useState('')
  const errorId = useId()
  const wordsOf = (name: string): string => {
    const key = `icon.${name}`
    return isTextKey(i18n, key) ? i18n.t(key) : name.replaceAll('-', ' ')
  }
  const wanted = search.trim().toLowerCase()
  const shown = iconNames.filter(
    (name) => wordsOf(name).toLowerCase().includes(wanted) || name.includes(wanted.replaceAll(' ', '-')),
  )
  const close = () => {
    setIsOpen(false)
    setSearch('')
  }
  return (
    <div className="flex flex-col gap-1.5">
      <span className="text-sm font-semibold text-ink">{label}</span>
      <button
        type="button"
        aria-haspopup="dialog"
        aria-describedby={error ? errorId : undefined}
        onClick={() => setIsOpen(true)}
        className={cx(inputClass, 'flex items-center gap-3 text-left')}
      >
        <NamedIcon name={value} className="size-5 shrink-0 text-accent-ink" />
        <span className="sr-only">{label}: </span>
        {wordsOf(value)}
      </button>
      <FieldError id={errorId} error={error} />
      <Dialog open={isOpen} onClose={close} title={t('kit.chooseIcon')} size="md">
        <SearchField label={t('kit.search')} value={search} onChange={setSearch} className="mb-3" />
        <ul className="grid max-h-80 grid-cols-[repeat(auto-fill,minmax(3rem,1fr))] gap-2 overflow-y-auto p-1">
          {shown.map((name) => {
            return (
              <li key={name}>
                <button
                  type="button"
                  aria-label={wordsOf(name)}
                  title={wordsOf(name)}
                  aria-pressed={name === value}
                  onClick={() => {
                    onChange(name)
                    close()
                  }}
                  className="relative flex aspect-square w-full items-center justify-center rounded-xl border border-line text-ink hover:bg-accent-soft hover:text-on-accent-soft aria-pressed:border-2 aria-pressed:border-accent aria-pressed:bg-accent-soft"
                >
                  <NamedIcon name={name} className="size-5" />
                  {name === value ? (
                    <Check aria-hidden="true" className="absolute top-1 right-1 size-3 text-accent-ink" />
                  ) : null}
                </button>
              </li>
            )
          })}
        </ul>
        <output className="block py-2 text-center text-sm text-muted">
          {shown.length === 0 ? t('kit.noMatches') : ''}
        </output>
      </Dialog>
    </div>
  )
}
