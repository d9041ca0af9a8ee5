import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import type { GroupRow } from '#server/groups/group.schema.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { createGroup, updateGroup, type Versioned } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { GroupFields } from './group-fields.tsx'
import { type GroupForm, toGroupCreate, toGroupUpdate } from './group-form.ts'

type Props = {
  open: boolean
  /** Undefined: a new group. */
  group: Versioned<GroupRow> | undefined
  onClose: () => void
  /** Reads the group anew after somebody else changed it. */
  onReload: () => void
}

/** Creates or edits a group with its knocs and users. Console §2 "Groups". */
export function GroupFormDialog({ open, group, onClose, onReload }: Props) {
  const { t } = useTranslation()
  const formId = useId()
  const common = {
    stale: [stale.groups, stale.knocs, stale.users],
    onDone: onClose,
    onFailed: () => {},
  }
  const create = useAdminAction({ run: createGroup, done: 'admin.groups.created', ...common })
  const update = useAdminAction({ run: updateGroup, done: 'admin.groups.updated', ...common })
  const save = (form: GroupForm, onError: (error: unknown) => void) => {
    if (group === undefined) create.mutate(toGroupCreate(form), { onError })
    else
      update.mutate(
        { id: group.data.ID, body: toGroupUpdate(form, group.data), etag: group.etag },
        { onError },
      )
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="lg"
      title={group ? t('admin.groups.editTitle', { name: group.data.Name }) : t('admin.groups.createTitle')}
      footer={
        <>
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button type="submit" form={formId} variant="primary" busy={create.isPending || update.isPending}>
            {t(group ? 'admin.save' : 'admin.groups.create')}
          </Button>
        </>
      }
    >
      {open ? (
        <GroupFields
          key={group?.etag ?? group?.data.LastModifiedAt ?? 'new'}
          formId={formId}
          group={group?.data}
          onSave={save}
          onReload={onReload}
        />
      ) : null}
    </Dialog>
  )
}
