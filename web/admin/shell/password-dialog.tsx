import { zodResolver } from '@hookform/resolvers/zod'
import { useEffect, useId } from 'react'
import { useForm, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { PasswordField } from '../../components/text-field.tsx'
import { newPasswordFault } from '../../forms/new-password-fault.ts'
import { PasswordStrengthMeter } from '../../forms/password-strength-meter.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { changePassword } from '../admin-api.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { passwordFormSchema } from './password-form.ts'

const empty = { ExistingPassword: '', NewPassword: '', ConfirmPassword: '' }

/** Changes the admin's own password. */
export function PasswordDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const formId = useId()
  const form = useForm({ resolver: zodResolver(passwordFormSchema), defaultValues: empty })
  const faults = form.formState.errors
  const newPassword = useWatch({ control: form.control, name: 'NewPassword' })
  const change = useAdminAction({
    run: changePassword,
    stale: [],
    done: 'password.done',
    onDone: onClose,
    onFailed: (error) => {
      const message = newPasswordFault(error)
      if (message !== undefined) form.setError('NewPassword', { message }, { shouldFocus: true })
    },
  })
  const { reset: resetForm } = form
  const { reset: resetChange } = change
  useEffect(() => {
    // Passwords don't stay in a closed dialog.
    if (open) return
    resetForm(empty)
    resetChange()
  }, [open, resetForm, resetChange])
  const submit = form.handleSubmit(({ ExistingPassword, NewPassword }) =>
    change.mutate({ ExistingPassword, NewPassword }),
  )
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="sm"
      title={t('password.title')}
      footer={
        <>
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={change.isPending}>
            {t('password.submit')}
          </Button>
        </>
      }
    >
      <form id={formId} noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        {change.error && newPasswordFault(change.error) === undefined ? (
          <Banner tone="danger" title={t('error.labelled', { message: errors.ofError(change.error) })} />
        ) : null}
        <PasswordField
          label={t('password.current')}
          autoComplete="current-password"
          error={errors.ofField(faults.ExistingPassword?.message)}
          {...form.register('ExistingPassword')}
        />
        <div className="flex flex-col gap-2">
          <PasswordField
            label={t('password.new')}
            description={t('password.newText')}
            autoComplete="new-password"
            error={errors.ofField(faults.NewPassword?.message)}
            {...form.register('NewPassword')}
          />
          <PasswordStrengthMeter password={newPassword} />
        </div>
        <PasswordField
          label={t('password.confirm')}
          autoComplete="new-password"
          error={errors.ofField(faults.ConfirmPassword?.message)}
          {...form.register('ConfirmPassword')}
        />
      </form>
    </Dialog>
  )
}
