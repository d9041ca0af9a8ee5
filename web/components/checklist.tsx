import { type ReactNode, useId, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { FieldError } from './field-frame.tsx'
import { SearchField } from './search-field.tsx'

export type ChecklistItem = {
  id: string
  label: string
  /** Second line; searched as well. */
  detail?: string | undefined
  disabled?: boolean | undefined
}

type Props = {
  label: string
  description?: ReactNode
  error?: string | undefined
  items: readonly ChecklistItem[]
  selected: readonly string[]
  onChange: (selected: string[]) => void
  /** What stands there without any item. */
  emptyText: string
  /** Beside the label: a 'create' button. */
  action?: ReactNode
  /** Search and further items are the caller's, who asks the server: `items` is what was found so far. */
  remote?: RemoteItems | undefined
}

/** Items of which the server holds more than are shown. */
export type RemoteItems = {
  search: string
  onSearch: (search: string) => void
  isLoading: boolean
  /** Undefined: there are no more. */
  onMore: (() => void) | undefined
}

/** Several of many: a searchable list of checkboxes, 12 rem high. */
export function Checklist({
  label,
  description,
  error,
  items,
  selected,
  onChange,
  emptyText,
  action,
  remote,
}: Props) {
  const { t } = useTranslation()
  const id = useId()
  const [localSearch, setSearch] = useState('')
  const search = remote?.search ?? localSearch
  const chosen = useMemo(() => new Set(selected), [selected])
  const shown = useMemo(() => (remote ? items : matching(items, search)), [items, search, remote])
  const toggle = (itemId: string) =>
    onChange(chosen.has(itemId) ? selected.filter((other) => other !== itemId) : [...selected, itemId])
  return (
    // The legend isn't the first thing inside, which alone would make it the name.
    <fieldset
      aria-labelledby={`${id}-label`}
      aria-describedby={error ? `${id}-error` : undefined}
      className="flex min-w-0 flex-col gap-2"
    >
      <div className="flex items-end justify-between gap-3">
        <div>
          <legend className="contents">
            <span id={`${id}-label`} className="text-sm font-semibold text-ink">
              {label}
            </span>
          </legend>
          {description ? <p className="text-sm text-muted">{description}</p> : null}
        </div>
        {action}
      </div>
      <div className="overflow-hidden rounded-xl border border-control bg-surface">
        <SearchField
          label={t('kit.search')}
          value={search}
          onChange={remote?.onSearch ?? setSearch}
          className="border-b border-line p-1.5"
        />
        <ul className="h-48 overflow-y-auto p-1.5">
          {shown.map((item) => (
            <li key={item.id}>
              <label className="flex min-h-9 cursor-pointer items-center gap-3 rounded-lg px-2.5 py-1 hover:bg-sunken has-disabled:cursor-not-allowed has-disabled:text-muted">
                <input
                  type="checkbox"
                  checked={chosen.has(item.id)}
                  disabled={item.disabled}
                  onChange={() => toggle(item.id)}
                  className="size-5 shrink-0 cursor-[inherit] accent-accent"
                />
                <span className="flex min-w-0 flex-col">
                  <span className="truncate text-[0.9375rem]">{item.label}</span>
                  {item.detail ? <span className="truncate text-xs text-muted">{item.detail}</span> : null}
                </span>
              </label>
            </li>
          ))}
          {shown.length === 0 ? (
            <li className="px-2.5 py-6 text-center text-sm text-muted">
              {remote?.isLoading
                ? t('kit.loading')
                : items.length === 0 && search === ''
                  ? emptyText
                  : t('kit.noMatches')}
            </li>
          ) : null}
          {remote?.onMore ? (
            <li>
              <button
                type="button"
                onClick={remote.onMore}
                disabled={remote.isLoading}
                className="min-h-9 w-full rounded-lg px-2.5 text-left text-sm font-semibold text-accent-ink hover:bg-sunken"
              >
                {t(remote.isLoading ? 'kit.loading' : 'kit.more')}
              </button>
            </li>
          ) : null}
        </ul>
        <output className="block border-t border-line px-3.5 py-1.5 text-xs font-medium text-muted">
          {t('kit.selected', { count: selected.length })}
        </output>
      </div>
      <FieldError id={`${id}-error`} error={error} />
    </fieldset>
  )
}

const matching = (items: readonly ChecklistItem[], search: string): readonly ChecklistItem[] => {
  const wanted = search.trim().toLowerCase()
  if (wanted === '') return items
  return items.filter((item) => `${item.label}\n${item.detail ?? ''}`.toLowerCase().includes(wanted))
}
