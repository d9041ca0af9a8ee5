import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Controller, type UseFormReturn, useFieldArray } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { FieldError } from '../../components/field-frame.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Select } from '../../components/select.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import type { UserForm, UserValues } from './user-form.ts'
import { keyExpiries } from './user-key.ts'

/** Notes that a row may suggest; one is drawn. Console §9. */
const notes = [1, 2, 3, 4, 5] as const

/** The key of a new API-key user: its name, when it ends, and where it may be used from. Console §5. */
export function UserKeyFields({ form }: { form: UseFormReturn<UserValues, unknown, UserForm> }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { errors: faults } = form.formState
  const rows = useFieldArray({ control: form.control, name: 'AllowedFrom' })
  const [firstNote] = useState(() => Math.floor(Math.random() * notes.length))
  return (
    <>
      <TextField
        label={t('admin.userKey.name')}
        autoComplete="off"
        error={errors.ofField(faults.KeyName?.message)}
        {...form.register('KeyName')}
      />
      <Controller
        control={form.control}
        name="KeyExpiry"
        render={({ field }) => (
          <Select
            label={t('admin.userKey.expires')}
            value={field.value}
            onChange={field.onChange}
            options={keyExpiries.map((value) => ({ value, label: t(`admin.userKey.expires.${value}`) }))}
          />
        )}
      />
      <fieldset className="flex min-w-0 flex-col gap-2 sm:col-span-2">
        <legend className="contents">
          <span className="text-sm font-semibold text-ink">{t('admin.userKey.allowedFrom')}</span>
        </legend>
        <p className="text-sm text-muted">{t('admin.userKey.allowedFromText')}</p>
        {rows.fields.map(({ id }, index) => (
          <div key={id} className="flex items-start gap-2">
            <div className="grid min-w-0 flex-1 gap-2 sm:grid-cols-2">
              <TextField
                label={t('admin.userKey.prefix', { number: index + 1 })}
                labelHidden
                placeholder="203.0.113.0/24"
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                error={errors.ofField(faults.AllowedFrom?.[index]?.prefix?.message)}
                {...form.register(`AllowedFrom.${index}.prefix`)}
              />
              <TextField
                label={t('admin.userKey.note', { number: index + 1 })}
                labelHidden
                placeholder={t(`admin.userKey.notes.${notes[(firstNote + index) % notes.length] ?? 1}`)}
                autoComplete="off"
                {...form.register(`AllowedFrom.${index}.note`)}
              />
            </div>
            <IconButton
              icon={Trash2}
              tone="danger"
              label={t('admin.userKey.removeRange', { number: index + 1 })}
              onClick={() => rows.remove(index)}
            />
          </div>
        ))}
        <FieldError
          id="allowed-from-error"
          error={errors.ofField(faults.AllowedFrom?.root?.message ?? faults.AllowedFrom?.message)}
        />
        <Button
          size="sm"
          icon={Plus}
          className="self-start"
          onClick={() => rows.append({ prefix: '', note: '' })}
        >
          {t('admin.userKey.addRange')}
        </Button>
      </fieldset>
    </>
  )
}
