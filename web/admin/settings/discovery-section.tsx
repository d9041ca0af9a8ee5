import { useQuery } from '@tanstack/react-query'
import { BookOpen } from 'lucide-react'
import { Controller } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { configChangeSchema, type SettingsAnswer } from '#server/settings/setting.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { LinkButton } from '../../components/button.tsx'
import { Checkbox } from '../../components/checkbox.tsx'
import { Switch } from '../../components/switch.tsx'
import { TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { saveConfig, type Versioned } from '../admin-api.ts'
import { asRead, queries, stale } from '../admin-queries.ts'
import { SettingsForm } from './settings-form.tsx'
import { SettingsSection } from './settings-section.tsx'
import { useSettingsForm } from './use-settings-form.ts'

/** Whether and where browsers look for the addresses that a user has on other ports. Console §2 "Settings". */
export function DiscoverySection() {
  const { t } = useTranslation()
  const settings = useQuery({ ...queries.settings, ...asRead })
  return (
    <SettingsSection
      title={t('admin.discovery.title')}
      text={t('admin.discovery.text')}
      actions={
        <LinkButton href="/docs/discovery" target="_blank" rel="noreferrer" variant="quiet" icon={BookOpen}>
          {t('admin.docs')}
        </LinkButton>
      }
      query={settings}
    >
      {(read) => <DiscoveryForm settings={read} />}
    </SettingsSection>
  )
}

const toValues = ({ DiscoverIP, DiscoverIPURL, TrustDiscoveryClaims }: SettingsAnswer) => ({
  DiscoverIP,
  DiscoverIPURL,
  TrustDiscoveryClaims,
})

const schema = z.object({
  DiscoverIP: z.boolean(),
  DiscoverIPURL: configChangeSchema.shape.DiscoverIPURL.unwrap(),
  TrustDiscoveryClaims: z.boolean(),
})

const places = { fields: ['DiscoverIP', 'DiscoverIPURL', 'TrustDiscoveryClaims'] } as const

function DiscoveryForm({ settings }: { settings: Versioned<SettingsAnswer> }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { form, ...state } = useSettingsForm({
    settings,
    toValues,
    schema,
    run: saveConfig,
    places,
    // The knocs' options go by it.
    stale: [stale.status],
  })
  return (
    <SettingsForm label={t('admin.discovery.title')} state={state}>
      <Controller
        control={form.control}
        name="DiscoverIP"
        render={({ field }) => (
          <Switch
            label={t('admin.discovery.switch')}
            description={t('admin.discovery.switchText')}
            checked={field.value}
            onChange={field.onChange}
          />
        )}
      />
      <Ports />
      <TextField
        label={t('admin.discovery.url')}
        optional
        description={t('admin.discovery.urlText')}
        type="url"
        autoComplete="off"
        placeholder="https://discover.example.com"
        error={errors.ofField(form.formState.errors.DiscoverIPURL?.message)}
        {...form.register('DiscoverIPURL')}
        className="max-w-2xl"
      />
      <Checkbox
        label={t('admin.discovery.trust')}
        description={t('admin.discovery.trustText')}
        {...form.register('TrustDiscoveryClaims')}
      />
      {form.watch('TrustDiscoveryClaims') ? (
        <Banner tone="warn" title={t('admin.discovery.trustWarning')}>
          {t('admin.discovery.trustWarningText')}
        </Banner>
      ) : null}
    </SettingsForm>
  )
}

/** What each lookup port stands for: a provider may give traffic to each another address. */
function Ports() {
  const { t } = useTranslation()
  return (
    <div className="rounded-xl bg-sunken px-4 py-3.5 text-sm text-muted">
      <p>{t('admin.discovery.portsText')}</p>
      <dl className="mt-2.5 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {([443, 222, 3389, 8000] as const).map((port) => (
          <div key={port} className="contents">
            <dt className="text-right font-mono font-semibold text-ink tabular-nums">{port}</dt>
            <dd>{t(`admin.discovery.port.${port}`)}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-2.5">{t('admin.discovery.portsReach')}</p>
    </div>
  )
}
