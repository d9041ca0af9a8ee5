import { zodResolver } from '@hookform/resolvers/zod'
import type { ReactNode } from 'react'
import { useForm } from 'react-hook-form'
import { z } from 'zod'
import { passkeyNameSchema } from '#server/auth/passkeys/passkey.schema.ts'
import { Button } from '../components/button.tsx'
import { TextField } from '../components/text-field.tsx'
import { useErrorText } from '../i18n/use-error-text.ts'
import { useDirtyForm } from '../shell/dirty-forms.ts'

const formSchema = z.object({ Name: passkeyNameSchema })

type Props = {
  label: string
  description?: string
  name?: string
  submitLabel: string
  busy: boolean
  autoFocus?: boolean
  onSubmit: (name: string) => void
  /** More buttons, before the one that submits. */
  children?: ReactNode
}

/** A passkey's name: that of a new one, or another for one there is. */
export function PasskeyNameForm({
  label,
  description,
  name = '',
  submitLabel,
  busy,
  autoFocus,
  onSubmit,
  children,
}: Props) {
  const errors = useErrorText()
  const { register, handleSubmit, formState } = useForm({
    resolver: zodResolver(formSchema),
    defaultValues: { Name: name },
  })
  useDirtyForm(formState.isDirty)
  const submit = handleSubmit(({ Name }) => {
    if (!busy) onSubmit(Name)
  })
  return (
    <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
      <TextField
        label={label}
        description={description}
        maxLength={100}
        autoComplete="off"
        autoFocus={autoFocus}
        error={errors.ofField(formState.errors.Name?.message)}
        {...register('Name')}
      />
      <div className="flex flex-wrap justify-end gap-2">
        {children}
        <Button type="submit" variant="primary" busy={busy}>
          {submitLabel}
        </Button>
      </div>
    </form>
  )
}
