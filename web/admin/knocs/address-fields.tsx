import { Plus, Trash2 } from 'lucide-react'
import { Controller, useFieldArray, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { FieldError } from '../../components/field-frame.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { RadioGroup } from '../../components/radio-group.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import type { OptionsFormApi } from './knoc-options-fields.tsx'

/** Which addresses a grant opens: the user's own, or those listed here. */
export function AddressFields({ form }: { form: OptionsFormApi }) {
  const { t } = useTranslation()
  const chosen = useWatch({ control: form.control, name: 'GrantType' })
  return (
    <>
      <Controller
        control={form.control}
        name="GrantType"
        render={({ field }) => (
          <RadioGroup
            label={t('admin.options.GrantType')}
            value={field.value}
            onChange={field.onChange}
            options={(['userIp', 'specifiedIps'] as const).map((value) => ({
              value,
              label: t(`admin.options.${value}`),
              description: t(`admin.options.${value}.text`),
            }))}
          />
        )}
      />
      {chosen === 'specifiedIps' ? <Addresses form={form} /> : null}
    </>
  )
}

function Addresses({ form }: { form: OptionsFormApi }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'Ips' })
  const faults = form.formState.errors.Ips
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1.5 text-sm font-semibold text-ink">{t('admin.options.Ips')}</legend>
      {fields.map((field, index) => (
        <div key={field.id} className="flex items-start gap-2">
          <TextField
            label={t('admin.options.ipNumber', { number: index + 1 })}
            labelHidden
            placeholder="203.0.113.10"
            autoComplete="off"
            spellCheck={false}
            className="flex-1"
            error={errors.ofField(faults?.[index]?.Ip?.message)}
            {...form.register(`Ips.${index}.Ip`)}
          />
          <IconButton
            icon={Trash2}
            label={t('admin.options.removeIp', { number: index + 1 })}
            onClick={() => remove(index)}
          />
        </div>
      ))}
      <FieldError id="ips-error" error={errors.ofField(faults?.root?.message ?? faults?.message)} />
      <Button size="sm" icon={Plus} className="self-start" onClick={() => append({ Ip: '' })}>
        {t('admin.options.addIp')}
      </Button>
    </fieldset>
  )
}
