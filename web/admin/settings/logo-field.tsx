import { ImageUp, Trash2 } from 'lucide-react'
import { useId, useRef } from 'react'
import { Controller, type UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { Accent } from '#server/status/status.schema.ts'
import { Button } from '../../components/button.tsx'
import { cx } from '../../components/class-names.ts'
import { FieldError } from '../../components/field-frame.tsx'
import { Logo } from '../../components/logo.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { logoFor } from '../../shell/logo-for.ts'
import { readLogoFile } from './read-logo-file.ts'
import { useDroppedFile } from './use-dropped-file.ts'

export type BrandingValues = {
  Accent: Accent
  HighAccessibility: boolean
  Logo: string
  LightModeLogo: string
}

type Props = {
  form: UseFormReturn<BrandingValues, unknown, BrandingValues>
  name: 'Logo' | 'LightModeLogo'
  /** The background that this logo is for, and is shown on. */
  mode: 'light' | 'dark'
}

/** One logo: shown where it will stand, picked or dropped, and taken away. Console §5 "Logo upload". */
export function LogoField({ form, name, mode }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const id = useId()
  const picker = useRef<HTMLInputElement>(null)
  const chooser = useRef<HTMLButtonElement>(null)
  const place = useRef<HTMLFieldSetElement>(null)
  const label = t(`admin.branding.logo.${mode}`)
  const error = errors.ofField(form.formState.errors[name]?.message)
  const take = async (file: File) => {
    const read = await readLogoFile(file)
    if ('fault' in read) return form.setError(name, { message: read.fault })
    form.clearErrors(name)
    form.setValue(name, read.picture, { shouldDirty: true })
  }
  const isOver = useDroppedFile(place, (file) => void take(file))
  const remove = () => {
    form.clearErrors(name)
    form.setValue(name, '', { shouldDirty: true })
    // The button goes with the logo.
    chooser.current?.focus()
  }
  return (
    <Controller
      control={form.control}
      name={name}
      render={({ field }) => (
        <fieldset
          ref={place}
          className={cx(
            'flex min-w-0 flex-col gap-3 rounded-xl border-2 border-dashed p-4 transition-colors duration-150',
            isOver ? 'border-accent bg-accent-soft' : 'border-line',
          )}
        >
          <legend className="contents">
            <span className="text-sm font-semibold text-ink">{label}</span>
          </legend>
          <LogoOn mode={mode} values={form.watch()} />
          <div className="flex flex-wrap items-center gap-2">
            <Button
              ref={(button) => {
                chooser.current = button
                field.ref(button)
              }}
              size="sm"
              icon={ImageUp}
              aria-label={t('admin.branding.chooseFor', { name: label })}
              aria-describedby={cx(`${id}-hint`, error && `${id}-error`)}
              onClick={() => picker.current?.click()}
            >
              {t('admin.branding.choose')}
            </Button>
            {field.value === '' ? null : (
              <Button
                size="sm"
                variant="quiet"
                icon={Trash2}
                aria-label={t('admin.branding.removeNamed', { name: label })}
                onClick={remove}
              >
                {t('admin.branding.remove')}
              </Button>
            )}
          </div>
          <div className="flex flex-col gap-1.5">
            <p id={`${id}-hint`} className="text-sm text-muted">
              {t('admin.branding.logoText')}
            </p>
            <div aria-live="polite">
              <FieldError id={`${id}-error`} error={error} />
            </div>
          </div>
          <input
            ref={picker}
            type="file"
            accept="image/png,image/jpeg"
            hidden
            onChange={({ target }) => {
              const file = target.files?.[0]
              if (file) void take(file)
              // The same file can be chosen again.
              target.value = ''
            }}
          />
        </fieldset>
      )}
    />
  )
}

/** What will be shown on this background: the logo, the other one, or the product's own. */
function LogoOn({ mode, values }: { mode: 'light' | 'dark'; values: BrandingValues }) {
  const { t } = useTranslation()
  const { Logo: dark, LightModeLogo: light } = values
  const address = logoFor({ Logo: dark || null, LightModeLogo: light || null }, mode === 'dark')
  const own = mode === 'dark' ? dark : light
  const text = t(
    address === null
      ? 'admin.branding.shows.product'
      : own
        ? 'admin.branding.shows.own'
        : 'admin.branding.shows.other',
  )
  return (
    <figure className="flex flex-col gap-1.5">
      <div
        data-accent={values.Accent}
        data-mode={mode}
        data-contrast={values.HighAccessibility ? 'high' : 'normal'}
        className="themed flex h-20 items-center justify-center rounded-lg border border-line bg-surface px-4"
      >
        {address === null ? (
          <Logo />
        ) : (
          <img
            src={address}
            alt={t(`admin.branding.logo.${mode}`)}
            className="h-8 w-44 min-w-0 object-contain"
          />
        )}
      </div>
      <figcaption className="text-sm text-muted">{text}</figcaption>
    </figure>
  )
}
