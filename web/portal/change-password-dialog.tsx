import { zodResolver } from '@hookform/resolvers/zod'
import { useState } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { userPasswordSchema } from '#server/auth/auth.schema.ts'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { PasswordField } from '../components/text-field.tsx'
import { newPasswordFault } from '../forms/new-password-fault.ts'
import { PasswordStrengthMeter } from '../forms/password-strength-meter.tsx'
import { useErrorText } from '../i18n/use-error-text.ts'
import { useDirtyForm } from '../shell/dirty-forms.ts'
import { changePassword } from './portal-api.ts'

const formSchema = userPasswordSchema
  .extend({ ConfirmPassword: z.string().min(1) })
  .refine((form) => form.NewPassword === form.ConfirmPassword, {
    error: 'err.passwordsDontMatch',
    path: ['ConfirmPassword'],
    when: ({ value }) => (value as { ConfirmPassword?: string }).ConfirmPassword !== '',
  })

const empty = { CurrentPassword: '', NewPassword: '', ConfirmPassword: '' }

type Props = { open: boolean; onClose: () => void; ownWords: readonly string[] }

/** Changes the own password; a refusal stands inside the dialog, and so does the success. Portal §2, §5. */
export function ChangePasswordDialog({ open, onClose, ownWords }: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const [isDone, setIsDone] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const { register, handleSubmit, formState, reset, control, setError } = useForm({
    resolver: zodResolver(formSchema),
    defaultValues: empty,
  })
  const newPassword = useWatch({ control, name: 'NewPassword' })
  useDirtyForm(open && formState.isDirty)

  const close = () => {
    onClose()
    setIsDone(false)
    setFailure(null)
    reset(empty)
  }
  const submit = handleSubmit(async ({ CurrentPassword, NewPassword }) => {
    setFailure(null)
    try {
      await changePassword({ CurrentPassword, NewPassword })
      reset(empty)
      setIsDone(true)
    } catch (error) {
      const message = newPasswordFault(error)
      if (message === undefined) setFailure(error)
      else setError('NewPassword', { message }, { shouldFocus: true })
    }
  })
  const fieldError = (name: keyof typeof empty) => errors.ofField(formState.errors[name]?.message)
  return (
    <Dialog
      open={open}
      onClose={close}
      size="sm"
      title={t('password.title')}
      footer={
        isDone ? (
          // What had the focus is gone. The key makes this a button of its own: only a new one takes the focus.
          <Button key="done" autoFocus variant="primary" onClick={close}>
            {t('kit.ok')}
          </Button>
        ) : (
          <>
            <Button onClick={close}>{t('kit.cancel')}</Button>
            <Button type="submit" form="change-password" variant="primary" busy={formState.isSubmitting}>
              {t('password.submit')}
            </Button>
          </>
        )
      }
    >
      <output>{isDone ? <Banner tone="ok" title={t('password.done')} className="mb-1" /> : null}</output>
      <form
        id="change-password"
        noValidate
        onSubmit={(event) => void submit(event)}
        hidden={isDone}
        className="flex flex-col gap-4 pb-1"
      >
        {failure ? <Banner tone="danger" title={errors.ofError(failure)} /> : null}
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          error={fieldError('CurrentPassword')}
          {...register('CurrentPassword')}
        />
        <div className="flex flex-col gap-2">
          <PasswordField
            label={t('password.new')}
            description={t('password.newText')}
            autoComplete="new-password"
            error={fieldError('NewPassword')}
            {...register('NewPassword')}
          />
          <PasswordStrengthMeter password={newPassword} ownWords={ownWords} />
        </div>
        <PasswordField
          label={t('password.confirm')}
          autoComplete="new-password"
          error={fieldError('ConfirmPassword')}
          {...register('ConfirmPassword')}
        />
      </form>
    </Dialog>
  )
}
