import { Field, Label, Radio, RadioGroup } from '@headlessui/react'
import { Check } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { type Accent, accents } from '#server/status/status.schema.ts'

/** The accents in their own colours, on light and on dark: the theme's rules draw them, so that none is lied about. */
export function AccentChooser({ value, onChange }: { value: Accent; onChange: (accent: Accent) => void }) {
  const { t } = useTranslation()
  return (
    <Field className="flex flex-col gap-2">
      <Label className="text-sm font-semibold text-ink">{t('admin.branding.accent')}</Label>
      <RadioGroup
        value={value}
        onChange={onChange}
        className="grid grid-cols-[repeat(auto-fit,minmax(9.5rem,1fr))] gap-2"
      >
        {accents.map((accent) => (
          <Field key={accent} className="min-w-0">
            <Radio
              value={accent}
              aria-label={t(`admin.branding.accent.${accent}`)}
              className="group flex min-h-12 cursor-pointer items-center gap-2.5 rounded-xl border border-line bg-surface px-3 py-2 transition-colors duration-150 hover:border-control data-checked:border-accent data-checked:bg-accent-soft"
            >
              <span
                aria-hidden="true"
                className="flex shrink-0 overflow-hidden rounded-full border border-line"
              >
                {(['light', 'dark'] as const).map((mode) => (
                  <span
                    key={mode}
                    data-accent={accent}
                    data-mode={mode}
                    data-contrast="normal"
                    className="themed h-6 w-3 bg-accent"
                  />
                ))}
              </span>
              <span className="min-w-0 flex-1 truncate text-[0.9375rem] font-semibold text-ink">
                {t(`admin.branding.accent.${accent}`)}
              </span>
              <Check
                aria-hidden="true"
                className="invisible size-4 shrink-0 text-accent-ink group-data-checked:visible"
              />
            </Radio>
          </Field>
        ))}
      </RadioGroup>
    </Field>
  )
}
