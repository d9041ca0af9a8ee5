import { Plus, Trash2 } from 'lucide-react'
import { Controller, useFieldArray, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { FieldError } from '../../components/field-frame.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { RadioGroup } from '../../components/radio-group.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { privateRanges } from './ip-ranges.ts'
import type { OptionsFormApi } from './knoc-options-fields.tsx'

const types = ['none', 'RFC1918', 'allowList', 'denyList'] as const

/** From which addresses a knoc may be granted at all. Custom ranges are kept while another kind is chosen. */
export function RestrictionFields({ form }: { form: OptionsFormApi }) {
  const { t } = useTranslation()
  const chosen = useWatch({ control: form.control, name: 'RestrictionType' })
  return (
    <>
      <Controller
        control={form.control}
        name="RestrictionType"
        render={({ field }) => (
          <RadioGroup
            label={t('admin.options.RestrictionType')}
            value={field.value}
            onChange={field.onChange}
            options={types.map((value) => ({
              value,
              label: t(`admin.options.restriction.${value}`),
              description: t(`admin.options.restriction.${value}.text`),
            }))}
          />
        )}
      />
      {chosen === 'RFC1918' ? <PrivateRanges form={form} /> : null}
      {chosen === 'allowList' || chosen === 'denyList' ? <CustomRanges form={form} /> : null}
    </>
  )
}

function PrivateRanges({ form }: { form: OptionsFormApi }) {
  const { t } = useTranslation()
  return (
    <>
      <Controller
        control={form.control}
        name="RfcType"
        render={({ field }) => (
          <RadioGroup
            label={t('admin.options.RfcType')}
            value={field.value}
            onChange={field.onChange}
            options={(['allow', 'deny'] as const).map((value) => ({
              value,
              label: t(`admin.options.rfc.${value}`),
            }))}
          />
        )}
      />
      <div className="flex flex-col gap-2">
        <p className="text-sm font-semibold text-ink">{t('admin.options.privateRanges')}</p>
        <ul className="divide-y divide-line rounded-xl border border-line bg-sunken font-mono text-sm text-ink">
          {privateRanges.map(({ Start, End }) => (
            <li key={Start} className="px-3.5 py-2 break-all">
              {Start} – {End}
            </li>
          ))}
        </ul>
      </div>
    </>
  )
}

function CustomRanges({ form }: { form: OptionsFormApi }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { fields, append, remove } = useFieldArray({ control: form.control, name: 'CustomRanges' })
  const faults = form.formState.errors.CustomRanges
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1.5 text-sm font-semibold text-ink">{t('admin.options.ranges')}</legend>
      {fields.map((field, index) => (
        <div key={field.id} className="flex items-start gap-2">
          <div className="grid flex-1 gap-2 sm:grid-cols-2">
            {(['Start', 'End'] as const).map((side) => (
              <TextField
                key={side}
                label={t(`admin.options.range${side}`, { number: index + 1 })}
                labelHidden
                placeholder={t(`admin.options.placeholder${side}`)}
                autoComplete="off"
                spellCheck={false}
                error={errors.ofField(faults?.[index]?.[side]?.message)}
                {...form.register(`CustomRanges.${index}.${side}`)}
              />
            ))}
          </div>
          <IconButton
            icon={Trash2}
            label={t('admin.options.removeRange', { number: index + 1 })}
            onClick={() => remove(index)}
          />
        </div>
      ))}
      <FieldError
        id="ranges-error"
        error={(faults?.root?.message ?? faults?.message) ? t('form.rangeNeeded') : undefined}
      />
      <Button size="sm" icon={Plus} className="self-start" onClick={() => append({ Start: '', End: '' })}>
        {t('admin.options.addRange')}
      </Button>
    </fieldset>
  )
}
