import { zodResolver } from '@hookform/resolvers/zod'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { Controller, useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Switch } from '../../components/switch.tsx'
import { PasswordField, TextField } from '../../components/text-field.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { useDirtyForm } from '../../shell/dirty-forms.ts'
import { createUser, updateUser } from '../admin-api.ts'
import { queries, stale } from '../admin-queries.ts'
import type { KnownUser } from '../knocs/members.ts'
import { allowanceOf } from '../shell/banners.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { toUserCreate, toUserUpdate, toUserValues, type UserForm, userFormSchema } from './user-form.ts'
import { toUserName } from './user-name.ts'

type Props = {
  open: boolean
  /** Undefined: a new user. */
  user: { data: UserRow; etag: string | null } | undefined
  onClose: () => void
  onCreated?: (user: KnownUser) => void
}

/** Creates or edits a local user. Console §5 "User form". */
export function UserFormDialog({ open, user, onClose, onCreated }: Props) {
  const { t } = useTranslation()
  const formId = useId()
  const status = useQuery(queries.status).data
  const isBlocked = user === undefined && status !== undefined && !allowanceOf(status).canCreate
  const create = useAdminAction({
    run: async (form: UserForm) => {
      const { ID } = await createUser(toUserCreate(form))
      return {
        ID,
        Name: form.Name,
        Company: form.Company === '' ? null : form.Company,
        UserName: form.UserName,
      }
    },
    stale: [stale.users, stale.status],
    done: 'admin.users.created',
    onDone: (created) => {
      onCreated?.(created)
      onClose()
    },
  })
  const update = useAdminAction({
    run: updateUser,
    stale: [stale.users],
    done: 'admin.users.updated',
    onDone: onClose,
  })
  const save = (form: UserForm) => {
    if (user === undefined) create.mutate(form)
    else update.mutate({ id: user.data.ID, body: toUserUpdate(form, user.data), etag: user.etag })
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={user ? t('admin.users.editTitle', { name: user.data.Name }) : t('admin.users.createTitle')}
      footer={
        <>
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          {isBlocked ? null : (
            <Button type="submit" form={formId} variant="primary" busy={create.isPending || update.isPending}>
              {t(user ? 'admin.save' : 'admin.users.create')}
            </Button>
          )}
        </>
      }
    >
      {isBlocked ? <Banner tone="danger" title={t('err.userLimitReached')} className="mb-4" /> : null}
      {open ? (
        <UserFields
          key={user?.etag ?? user?.data.LastModifiedAt ?? 'new'}
          formId={formId}
          user={user?.data}
          sessionLimit={status?.Licensing.SessionLimit ?? null}
          onSave={save}
        />
      ) : null}
    </Dialog>
  )
}

type FieldsProps = {
  formId: string
  user: UserRow | undefined
  sessionLimit: number | null
  onSave: (form: UserForm) => void
}

function UserFields({ formId, user, sessionLimit, onSave }: FieldsProps) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const rules = { user, sessionLimit }
  const form = useForm({
    resolver: zodResolver(userFormSchema(rules)),
    defaultValues: toUserValues(rules),
  })
  const { errors: faults, isDirty } = form.formState
  useDirtyForm(isDirty)
  const [isNameTyped, setIsNameTyped] = useState(user !== undefined)
  const name = form.watch('Name')
  const { setValue } = form
  useEffect(() => {
    if (!isNameTyped) setValue('UserName', toUserName(name))
  }, [name, isNameTyped, setValue])
  const submit = form.handleSubmit(onSave)
  return (
    <form
      id={formId}
      noValidate
      onSubmit={(event) => {
        // The dialog may stand inside another form of the page: React passes the event on to it.
        event.stopPropagation()
        void submit(event)
      }}
      className="grid gap-4 pb-2 sm:grid-cols-2"
    >
      <TextField
        label={t('admin.users.name')}
        autoComplete="off"
        autoFocus
        error={errors.ofField(faults.Name?.message)}
        {...form.register('Name')}
      />
      <TextField
        label={t('admin.users.company')}
        optional
        autoComplete="off"
        error={errors.ofField(faults.Company?.message)}
        {...form.register('Company')}
      />
      <TextField
        label={t('admin.users.userName')}
        description={user ? t('admin.users.userNameFixed') : t('admin.users.userNameText')}
        disabled={user !== undefined}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        error={errors.ofField(faults.UserName?.message)}
        {...form.register('UserName', { onChange: () => setIsNameTyped(true) })}
        className="sm:col-span-2"
      />
      <PasswordField
        label={t('admin.users.password')}
        optional={user !== undefined}
        description={t(user ? 'admin.users.passwordKept' : 'password.newText')}
        autoComplete="new-password"
        error={errors.ofField(faults.Password?.message)}
        {...form.register('Password')}
      />
      <PasswordField
        label={t('admin.users.confirmPassword')}
        optional={user !== undefined}
        autoComplete="new-password"
        error={errors.ofField(faults.ConfirmPassword?.message)}
        {...form.register('ConfirmPassword')}
      />
      <TextField
        label={t('admin.users.duration')}
        description={t('admin.users.durationText')}
        inputMode="numeric"
        error={errors.ofField(faults.Duration?.message)}
        {...form.register('Duration')}
      />
      <TextField
        label={t('admin.users.sessionLimit')}
        optional
        description={
          sessionLimit === null
            ? t('admin.users.sessionLimitFree')
            : t('admin.users.sessionLimitText', { count: sessionLimit })
        }
        inputMode="numeric"
        error={errors.ofField(faults.SessionLimit?.message)}
        {...form.register('SessionLimit')}
      />
      <TextField
        type="date"
        label={t('admin.users.validUntil')}
        optional
        description={t('admin.users.validUntilText')}
        error={errors.ofField(faults.ValidUntil?.message)}
        {...form.register('ValidUntil')}
      />
      <div className="sm:col-span-2">
        <Controller
          control={form.control}
          name="LoginEnabled"
          render={({ field }) => (
            <Switch
              label={t('admin.users.loginEnabled')}
              description={t('admin.users.loginEnabledText')}
              checked={field.value}
              onChange={field.onChange}
            />
          )}
        />
      </div>
    </form>
  )
}
