import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { createUser, updateUser } from '../admin-api.ts'
import { queries, stale } from '../admin-queries.ts'
import type { KnownUser } from '../knocs/members.ts'
import { allowanceOf } from '../shell/banners.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { PlainKeyDialog } from './plain-key-dialog.tsx'
import { UserFields } from './user-fields.tsx'
import { toUserCreate, toUserUpdate, type UserForm } from './user-form.ts'

type Props = {
  open: boolean
  /** Undefined: a new user. */
  user: { data: UserRow; etag: string | null } | undefined
  onClose: () => void
  onCreated?: (user: KnownUser) => void
  /** Reads the user anew after somebody else changed it. */
  onReload?: () => void
}

/** Creates a local, LDAP or API-key user, or edits one. Console §5 "User form". */
export function UserFormDialog({ open, user, onClose, onCreated, onReload }: Props) {
  const { t } = useTranslation()
  const formId = useId()
  const status = useQuery(queries.status).data
  const [key, setKey] = useState<{ plain: string; name: string }>()
  const isBlocked = user === undefined && status !== undefined && !allowanceOf(status).canCreate
  const create = useAdminAction({
    run: (form: UserForm) => createUser(toUserCreate(form)),
    stale: [stale.users, stale.status],
    done: 'admin.users.created',
    onDone: ({ ID, PlaintextKey }, { Name, Company, UserName, KeyName }) => {
      onCreated?.({ ID, Name, Company: Company === '' ? null : Company, UserName })
      onClose()
      if (PlaintextKey !== undefined) setKey({ plain: PlaintextKey, name: KeyName })
    },
    onFailed: () => {},
  })
  const update = useAdminAction({
    run: updateUser,
    stale: [stale.users, stale.status],
    done: 'admin.users.updated',
    onDone: onClose,
    onFailed: () => {},
  })
  const save = (form: UserForm, onError: (error: unknown) => void) => {
    if (user === undefined) create.mutate(form, { onError })
    else
      update.mutate({ id: user.data.ID, body: toUserUpdate(form, user.data), etag: user.etag }, { onError })
  }
  return (
    <>
      <Dialog
        open={open}
        onClose={onClose}
        title={user ? t('admin.users.editTitle', { name: user.data.Name }) : t('admin.users.createTitle')}
        footer={
          <>
            <Button onClick={onClose}>{t('kit.cancel')}</Button>
            {isBlocked ? null : (
              <Button
                type="submit"
                form={formId}
                variant="primary"
                busy={create.isPending || update.isPending}
              >
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
            onReload={onReload ?? onClose}
          />
        ) : null}
      </Dialog>
      <PlainKeyDialog plainKey={key?.plain} name={key?.name ?? ''} onClose={() => setKey(undefined)} />
    </>
  )
}
