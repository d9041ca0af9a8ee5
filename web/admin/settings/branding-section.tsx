import { useQuery } from '@tanstack/react-query'
import { Controller } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import type { SettingsAnswer } from '#server/settings/setting.schema.ts'
import { accents } from '#server/status/status.schema.ts'
import { Switch } from '../../components/switch.tsx'
import { themeQuery } from '../../shell/theme.ts'
import { customize, type Versioned } from '../admin-api.ts'
import { asRead, queries } from '../admin-queries.ts'
import { AccentChooser } from './accent-chooser.tsx'
import { LogoField } from './logo-field.tsx'
import { toLogoBody } from './read-logo-file.ts'
import { SettingsForm } from './settings-form.tsx'
import { SettingsSection } from './settings-section.tsx'
import { ThemePreview } from './theme-preview.tsx'
import { useSettingsForm } from './use-settings-form.ts'

/** Colours, contrast and logos of portal and console. Console §2 "Settings". */
export function BrandingSection() {
  const { t } = useTranslation()
  const settings = useQuery({ ...queries.settings, ...asRead })
  return (
    <SettingsSection title={t('admin.branding.title')} text={t('admin.branding.text')} query={settings}>
      {(read) => <BrandingForm settings={read} />}
    </SettingsSection>
  )
}

/** A logo is the address of the stored one, a data: address of one that was picked, or '' for none. */
const toValues = ({ Accent, HighAccessibility, Logo, LightModeLogo }: SettingsAnswer) => ({
  Accent,
  HighAccessibility,
  Logo,
  LightModeLogo,
})

const schema = z.object({
  Accent: z.enum(accents),
  HighAccessibility: z.boolean(),
  Logo: z.string().transform(toLogoBody),
  LightModeLogo: z.string().transform(toLogoBody),
})

const places = { fields: ['Accent', 'HighAccessibility', 'Logo', 'LightModeLogo'] } as const

function BrandingForm({ settings }: { settings: Versioned<SettingsAnswer> }) {
  const { t } = useTranslation()
  const { form, ...state } = useSettingsForm({
    settings,
    toValues,
    schema,
    run: customize,
    places,
    // The page puts the theme on whenever it is read anew.
    stale: [themeQuery],
  })
  const chosen = form.watch()
  return (
    <SettingsForm label={t('admin.branding.title')} state={state}>
      <Controller
        control={form.control}
        name="Accent"
        render={({ field }) => <AccentChooser value={field.value} onChange={field.onChange} />}
      />
      <Controller
        control={form.control}
        name="HighAccessibility"
        render={({ field }) => (
          <Switch
            label={t('admin.branding.contrast')}
            description={t('admin.branding.contrastText')}
            checked={field.value}
            onChange={field.onChange}
          />
        )}
      />
      <div className="grid gap-4 md:grid-cols-2">
        <LogoField form={form} name="LightModeLogo" mode="light" />
        <LogoField form={form} name="Logo" mode="dark" />
      </div>
      <div className="grid gap-4 xl:grid-cols-2">
        {(['light', 'dark'] as const).map((mode) => (
          <ThemePreview key={mode} mode={mode} {...chosen} />
        ))}
      </div>
    </SettingsForm>
  )
}
