import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { createAdmin, updateAdmin, type Versioned } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { AdminFields } from './admin-fields.tsx'
import { type AdminForm, toAdminCreate, toAdminUpdate } from './admin-form.ts'

type Props = {
  open: boolean
  /** Undefined: a new admin. */
  admin: Versioned<AdminRow> | undefined
  onClose: () => void
  /** Reads the admin anew after somebody else changed it. */
  onReload: () => void
}

/** Creates or edits an administrator. Console §5 "Admin". */
export function AdminFormDialog({ open, admin, onClose, onReload }: Props) {
  const { t } = useTranslation()
  const formId = useId()
  const common = { stale: [stale.admins, stale.status], onDone: onClose, onFailed: () => {} }
  const create = useAdminAction({ run: createAdmin, done: 'admin.admins.created', ...common })
  const update = useAdminAction({ run: updateAdmin, done: 'admin.admins.updated', ...common })
  const save = (form: AdminForm, onError: (error: unknown) => void) => {
    if (admin === undefined) create.mutate(toAdminCreate(form), { onError })
    else
      update.mutate(
        { id: admin.data.ID, body: toAdminUpdate(form, admin.data), etag: admin.etag },
        { onError },
      )
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={admin ? t('admin.admins.editTitle', { name: admin.data.Name }) : t('admin.admins.createTitle')}
      footer={
        <>
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={create.isPending || update.isPending}>
            {t(admin ? 'admin.save' : 'admin.admins.create')}
          </Button>
        </>
      }
    >
      {open ? (
        <AdminFields
          key={admin?.etag ?? admin?.data.LastModifiedAt ?? 'new'}
          formId={formId}
          admin={admin?.data}
          onSave={save}
          onReload={onReload}
        />
      ) : null}
    </Dialog>
  )
}
