import { useQuery } from '@tanstack/react-query'
import { Controller, type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Banner } from '../../components/banner.tsx'
import { Card } from '../../components/card.tsx'
import { RadioGroup } from '../../components/radio-group.tsx'
import { Switch } from '../../components/switch.tsx'
import { TextField } from '../../components/text-field.tsx'
import type { TextKey } from '../../i18n/texts.ts'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { queries } from '../admin-queries.ts'
import { AddressFields } from './address-fields.tsx'
import { type OptionsForm, type OptionsValues, silentSeconds } from './knoc-options-form.ts'
import { RestrictionFields } from './restriction-fields.tsx'
import { useIsDiscovering } from './use-is-discovering.ts'

/** react-hook-form's handle of the options form. */
export type OptionsFormApi = UseFormReturn<OptionsValues, unknown, OptionsForm>

type SwitchName = 'ClickToGrant' | 'CGNATOpen' | 'HideFromUsers' | 'AutoBrowseUsers' | 'CutConnections'

/** How a knoc is granted, to which addresses, from where, and what closing does. Console §3. */
export function KnocOptionsFields({ form }: { form: OptionsFormApi }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const faults = form.formState.errors
  return (
    <div className="grid items-start gap-5 xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-5">
        <Section title="admin.options.granting">
          <OptionSwitch form={form} name="ClickToGrant" />
          <TextField
            label={t('admin.options.GrantMinutes')}
            description={t('admin.options.GrantMinutes.text')}
            inputMode="numeric"
            error={errors.ofField(faults.GrantMinutes?.message)}
            {...form.register('GrantMinutes')}
          />
          <AddressFields form={form} />
          <CgnatSwitch form={form} />
        </Section>
        <Section title="admin.options.portal">
          <OptionSwitch form={form} name="HideFromUsers" />
          <OptionSwitch form={form} name="AutoBrowseUsers" />
        </Section>
      </div>
      <div className="flex min-w-0 flex-col gap-5">
        <Section title="admin.options.from">
          <RestrictionFields form={form} />
        </Section>
        <Section title="admin.options.closing">
          <OptionSwitch form={form} name="CutConnections" />
          <SilenceFields form={form} />
        </Section>
        <Section title="admin.options.foreign">
          <ForeignFields form={form} />
        </Section>
      </div>
    </div>
  )
}

function Section({ title, children }: { title: TextKey; children: React.ReactNode }) {
  const { t } = useTranslation()
  return (
    <Card className="flex flex-col gap-5">
      <h2 className="text-lg font-bold tracking-tight text-ink">{t(title)}</h2>
      {children}
    </Card>
  )
}

/** Only while addresses are discovered, and only where the user's own are opened. Console §5. */
function CgnatSwitch({ form }: { form: OptionsFormApi }) {
  const isDiscovering = useIsDiscovering()
  const grantType = useWatch({ control: form.control, name: 'GrantType' })
  return isDiscovering && grantType === 'userIp' ? <OptionSwitch form={form} name="CGNATOpen" /> : null
}

function OptionSwitch({ form, name }: { form: OptionsFormApi; name: SwitchName }) {
  const { t } = useTranslation()
  return (
    <Controller
      control={form.control}
      name={name}
      render={({ field }) => (
        <Switch
          label={t(`admin.options.${name}`)}
          description={t(`admin.options.${name}.text`)}
          checked={field.value}
          onChange={field.onChange}
        />
      )}
    />
  )
}

function SilenceFields({ form }: { form: OptionsFormApi }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const chosen = useWatch({ control: form.control, name: 'WhenServerSilent' })
  const longest = useQuery(queries.status).data?.LongestSilence ?? null
  return (
    <>
      <Controller
        control={form.control}
        name="WhenServerSilent"
        render={({ field }) => (
          <RadioGroup
            label={t('admin.options.WhenServerSilent')}
            value={field.value}
            onChange={field.onChange}
            options={(['keep', 'close'] as const).map((value) => ({
              value,
              label: t(`admin.options.silent.${value}`),
              description: t(`admin.options.silent.${value}.text`),
            }))}
          />
        )}
      />
      {chosen === 'close' ? (
        <TextField
          label={t('admin.options.SilentSeconds')}
          description={
            longest === null
              ? t('admin.options.SilentSeconds.text', silentSeconds)
              : t('admin.options.SilentSeconds.textLongest', { ...silentSeconds, longest })
          }
          inputMode="numeric"
          error={errors.ofField(form.formState.errors.SilentSeconds?.message)}
          {...form.register('SilentSeconds')}
        />
      ) : null}
    </>
  )
}

/** What somebody else put on the list: an administrator's own static entries are such. */
function ForeignFields({ form }: { form: OptionsFormApi }) {
  const { t } = useTranslation()
  const chosen = useWatch({ control: form.control, name: 'ForeignEntries' })
  return (
    <>
      <Controller
        control={form.control}
        name="ForeignEntries"
        render={({ field }) => (
          <RadioGroup
            label={t('admin.options.ForeignEntries')}
            value={field.value}
            onChange={field.onChange}
            options={(['report', 'remove'] as const).map((value) => ({
              value,
              label: t(`admin.options.foreign.${value}`),
              description: t(`admin.options.foreign.${value}.text`),
            }))}
          />
        )}
      />
      {chosen === 'remove' ? (
        <Banner tone="warn" title={t('admin.options.foreignWarning')}>
          {t('admin.options.foreignWarning.text')}
        </Banner>
      ) : null}
    </>
  )
}
