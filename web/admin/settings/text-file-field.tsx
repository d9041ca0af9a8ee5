import { FileUp } from 'lucide-react'
import { useRef } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { TextAreaField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import type { AuthValues } from './auth-form.ts'

/** Bytes of a file that can be anything of ours: metadata and PEM are smaller. */
const largest = 512 * 1024

type TextName = {
  [Name in keyof AuthValues]: AuthValues[Name] extends string ? Name : never
}[keyof AuthValues]

type Props = {
  form: UseFormReturn<AuthValues>
  name: TextName
  label: string
  description?: string | undefined
  placeholder?: string | undefined
  /** What the picker shows: '.xml,.pem'. */
  accept: string
  rows?: number | undefined
  disabled?: boolean | undefined
}

/** A text that is pasted, or read from a file. */
export function TextFileField({ form, name, label, accept, rows = 4, disabled, ...texts }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const picker = useRef<HTMLInputElement>(null)
  const read = async (file: File | undefined) => {
    if (file === undefined) return
    if (file.size > largest) return form.setError(name, { message: 'err.payloadTooLarge' })
    form.setValue(name, await file.text(), { shouldDirty: true, shouldTouch: true })
    form.clearErrors(name)
  }
  return (
    <div className="flex flex-col gap-2">
      <TextAreaField
        label={label}
        rows={rows}
        autoComplete="off"
        spellCheck={false}
        disabled={disabled}
        className="[&_textarea]:font-mono [&_textarea]:text-[0.8125rem]"
        error={errors.ofField(form.formState.errors[name]?.message)}
        {...texts}
        {...form.register(name)}
      />
      <Button
        size="sm"
        icon={FileUp}
        className="self-start"
        disabled={disabled}
        aria-label={t('admin.auth.chooseFileFor', { name: label })}
        onClick={() => picker.current?.click()}
      >
        {t('admin.auth.chooseFile')}
      </Button>
      <input
        ref={picker}
        type="file"
        accept={accept}
        hidden
        onChange={({ target }) => {
          void read(target.files?.[0])
          // The same file can be chosen again.
          target.value = ''
        }}
      />
    </div>
  )
}
