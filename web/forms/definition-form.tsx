import { useId } from 'react'
import type { UseFormRegisterReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Select } from '../components/select.tsx'
import { Switch } from '../components/switch.tsx'
import { PasswordField, TextField } from '../components/text-field.tsx'
import { isTextKey } from '../i18n/start-i18n.ts'
import { useErrorText } from '../i18n/use-error-text.ts'
import type { DefinitionField } from './definition-fields.ts'

type Props = {
  fields: readonly DefinitionField[]
  /** Ties a text field to the form: `(name) => form.register(`Acl.${name}`)`. */
  register: (name: string) => UseFormRegisterReturn
  /** Reads and writes what has no input element of its own: switches and choices. */
  readValue: (name: string) => string | boolean | undefined
  onChange: (name: string, value: string | boolean) => void
  /** A field's fault, untranslated. */
  errorOf: (name: string) => string | undefined
  /** Values to choose from, by field; others may still be typed. */
  suggestions?: Readonly<Record<string, readonly string[]>> | undefined
}

/** Draws the settings of any kind of enforcement point from its definition; it knows none of them by name. */
export function DefinitionForm({ fields, ...wiring }: Props) {
  return (
    <>
      {fields.map((field) => (
        <DefinitionInput key={field.name} field={field} {...wiring} />
      ))}
    </>
  )
}

function DefinitionInput({ field, ...props }: Omit<Props, 'fields'> & { field: DefinitionField }) {
  const { t, i18n } = useTranslation()
  const errors = useErrorText()
  const { name, kind } = field
  const label = isTextKey(i18n, field.label) ? i18n.t(field.label) : name
  const error = errors.ofField(props.errorOf(name))
  if (kind === 'switch')
    return (
      <Switch
        label={label}
        checked={props.readValue(name) === true}
        onChange={(checked) => props.onChange(name, checked)}
      />
    )
  if (kind === 'choice')
    return (
      <Select
        label={label}
        error={error}
        value={String(props.readValue(name) ?? '')}
        onChange={(value) => props.onChange(name, value)}
        options={field.choices.map(({ value, label: key }) => ({
          value,
          label: key !== undefined && isTextKey(i18n, key) ? i18n.t(key) : value,
        }))}
      />
    )
  const texts = {
    label,
    error,
    optional: !field.required,
    placeholder: field.isRecorded ? t('field.recorded') : field.placeholder,
  }
  if (kind === 'secret') return <PasswordField {...texts} autoComplete="off" {...props.register(name)} />
  return <SuggestingField {...props} field={field} texts={texts} />
}

type SuggestingProps = Omit<Props, 'fields'> & {
  field: DefinitionField
  texts: { label: string; error: string | undefined; optional: boolean; placeholder: string | undefined }
}

/** A text or number, with the known values as buttons below. */
function SuggestingField({
  field: { name, kind },
  texts,
  register,
  onChange,
  readValue,
  suggestions,
}: SuggestingProps) {
  const { t } = useTranslation()
  const id = useId()
  const known = suggestions?.[name] ?? []
  return (
    <div className="flex flex-col gap-2">
      <TextField
        {...texts}
        inputMode={kind === 'number' ? 'numeric' : undefined}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        list={known.length > shownSuggestions ? id : undefined}
        {...register(name)}
      />
      {known.length > shownSuggestions ? (
        <datalist id={id}>
          {known.map((value) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </datalist>
      ) : null}
      {known.length > 0 ? (
        <div className="flex flex-wrap items-center gap-1.5">
          <span className="text-sm text-muted">{t('form.suggestions')}</span>
          {known.slice(0, shownSuggestions).map((value) => (
            <button
              key={value}
              type="button"
              aria-pressed={readValue(name) === value}
              onClick={() => onChange(name, value)}
              className="min-h-7 rounded-full border border-control bg-surface px-2.5 font-mono text-xs text-ink hover:bg-sunken aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-on-accent-soft"
            >
              {value}
            </button>
          ))}
        </div>
      ) : null}
    </div>
  )
}

/** More of them are offered while typing. */
const shownSuggestions = 8
