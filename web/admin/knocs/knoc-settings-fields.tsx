import { useQuery } from '@tanstack/react-query'
import { BookOpen, TriangleAlert } from 'lucide-react'
import { type Control, Controller, type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { definitions } from '#server/backends/definitions/index.ts'
import { Card } from '../../components/card.tsx'
import { IconPicker } from '../../components/icon-picker.tsx'
import { TextField } from '../../components/text-field.tsx'
import { definitionFields } from '../../forms/definition-fields.ts'
import { DefinitionForm } from '../../forms/definition-form.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { queries } from '../admin-queries.ts'
import { addressFor } from './haproxy-config.ts'
import { KnocPreview } from './knoc-preview.tsx'
import type { SettingsForm, SettingsValues } from './knoc-settings-form.ts'
import type { KnocType } from './knoc-types.ts'

/** react-hook-form's handle of the settings form. */
export type SettingsFormApi = UseFormReturn<SettingsValues, unknown, SettingsForm>

type Props = {
  form: SettingsFormApi
  type: KnocType
  /** The knoc that is being edited, whose own name is not a double. */
  knocId?: string | undefined
  suggestions: Readonly<Record<string, readonly string[]>>
}

/** The settings of a knoc with their preview; shared by all wizards and the update page. Console §2. */
export function KnocSettingsFields({ form, type, knocId, suggestions }: Props) {
  const { t } = useTranslation()
  return (
    <div className="grid gap-8 xl:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex min-w-0 flex-col gap-5">
        <Card className="flex flex-col gap-5">
          <div className="flex flex-wrap items-center justify-between gap-2">
            <h2 className="text-lg font-bold tracking-tight text-ink">{t('admin.settings.entry')}</h2>
            <a
              href={type.docs}
              target="_blank"
              rel="noreferrer"
              className="link inline-flex items-center gap-1.5 text-sm"
            >
              <BookOpen aria-hidden="true" className="size-4" />
              {t(`knocType.${type.key}.docs`)}
            </a>
          </div>
          <EntryFields form={form} knocId={knocId} />
        </Card>
        <Card className="flex flex-col gap-5">
          <h2 className="text-lg font-bold tracking-tight text-ink">{t(`knocType.${type.key}.settings`)}</h2>
          <EnforcementFields form={form} type={type} suggestions={suggestions} part="Backend" />
          <EnforcementFields form={form} type={type} suggestions={suggestions} part="Acl" />
        </Card>
      </div>
      <aside aria-label={t('admin.preview.title')} className="xl:sticky xl:top-24 xl:self-start">
        <Preview control={form.control} />
      </aside>
    </div>
  )
}

function EntryFields({ form, knocId }: { form: SettingsFormApi; knocId: string | undefined }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const knocs = useQuery(queries.knocs).data
  const faults = form.formState.errors
  const description = useWatch({ control: form.control, name: 'Description' })
  const isTwice = knocs?.some(({ ID, Name }) => ID !== knocId && Name === description.trim()) ?? false
  return (
    <>
      <TextField
        label={t('admin.settings.description')}
        description={
          isTwice ? (
            <span className="inline-flex items-start gap-1.5 font-medium text-warn">
              <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
              {t('admin.knocs.twiceText')}
            </span>
          ) : (
            t('admin.settings.descriptionText')
          )
        }
        autoComplete="off"
        error={errors.ofField(faults.Description?.message)}
        {...form.register('Description')}
      />
      <TextField
        label={t('admin.settings.url')}
        optional
        description={t('admin.settings.urlText')}
        inputMode="url"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={errors.ofField(faults.URL?.message)}
        {...form.register('URL')}
      />
      <div className="grid gap-5 sm:grid-cols-2">
        <TextField
          label={t('admin.settings.category')}
          optional
          autoComplete="off"
          error={errors.ofField(faults.Category?.message)}
          {...form.register('Category')}
        />
        <Controller
          control={form.control}
          name="Icon"
          render={({ field, fieldState }) => (
            <IconPicker
              label={t('admin.settings.icon')}
              value={field.value}
              onChange={field.onChange}
              error={errors.ofField(fieldState.error?.message)}
            />
          )}
        />
      </div>
    </>
  )
}

/** The part of the form that the kind's definition asks for. */
function EnforcementFields({
  form,
  type,
  suggestions,
  part,
}: Omit<Props, 'knocId'> & { part: 'Backend' | 'Acl' }) {
  const definition = definitions[type.backend]
  const fields = definitionFields(part === 'Acl' ? definition.acl : definition.backend)
  const faults = form.formState.errors[part] as Record<string, { message?: string } | undefined> | undefined
  const values = useWatch({ control: form.control, name: part })
  if (fields.length === 0) return null
  const write = (name: string, value: string | boolean) =>
    form.setValue(`${part}.${name}`, value, {
      shouldDirty: true,
      shouldValidate: form.formState.isSubmitted,
    })
  const addressOf = (protocol: string) =>
    addressFor(protocol, {
      stored: String(form.formState.defaultValues?.[part]?.['Address'] ?? ''),
      typed: String(values['Address'] ?? ''),
      reported: suggestions['Address']?.[0],
    })
  return (
    <DefinitionForm
      fields={fields}
      register={(name) => form.register(`${part}.${name}`)}
      readValue={(name) => values[name]}
      onChange={(name, value) => {
        write(name, value)
        const address = name === 'Protocol' ? addressOf(String(value)) : undefined
        if (address !== undefined) write('Address', address)
      }}
      errorOf={(name) => faults?.[name]?.message}
      suggestions={suggestions}
    />
  )
}

function Preview({ control }: { control: Control<SettingsValues, unknown, SettingsForm> }) {
  const [description, url, category, icon] = useWatch({
    control,
    name: ['Description', 'URL', 'Category', 'Icon'],
  })
  return <KnocPreview description={description} url={url} category={category} icon={icon} />
}
