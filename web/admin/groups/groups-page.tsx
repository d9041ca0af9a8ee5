import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Group, Plus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { GroupRow } from '#server/groups/group.schema.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { deleteGroup, type Versioned } from '../admin-api.ts'
import { queries, stale } from '../admin-queries.ts'
import { useErrorDialog } from '../shell/admin-errors.tsx'
import { useAdminAction } from '../use-admin-action.ts'
import { groupColumns } from './group-columns.tsx'
import { GroupFormDialog } from './group-form-dialog.tsx'

/** What is open above the table. */
type Opened =
  | { dialog: 'none' | 'create' }
  | { dialog: 'edit'; group: Versioned<GroupRow> }
  | { dialog: 'delete'; group: GroupRow }

const none: Opened = { dialog: 'none' }

/** Groups: what they give, and who is in them. Console §2 "Groups". */
export function GroupsPage() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const showError = useErrorDialog()
  const groups = useQuery({ ...queries.groups, staleTime: 0 })
  const [opened, setOpened] = useState<Opened>(none)
  const close = () => setOpened(none)
  const remove = useAdminAction({
    run: deleteGroup,
    stale: [stale.groups, stale.knocs, stale.users],
    done: 'admin.groups.deleted',
    onDone: close,
    onFailed: () => {},
  })
  /** A form starts from what the server has now, with the version to name when it is saved. */
  const edit = async ({ ID }: Pick<GroupRow, 'ID'>) => {
    try {
      setOpened({ dialog: 'edit', group: await client.fetchQuery({ ...queries.group(ID), staleTime: 0 }) })
    } catch (error) {
      showError(error)
    }
  }
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setOpened({ dialog: 'create' })}>
      {t('admin.groups.create')}
    </Button>
  )
  return (
    <>
      <PageHeader title={t('admin.groups.title')} description={t('admin.groups.lead')} actions={create} />
      <DataTable
        label={t('admin.groups.title')}
        searchLabel={t('admin.groups.search')}
        columns={groupColumns({
          t,
          onEdit: (group) => void edit(group),
          onDelete: (group) => {
            remove.reset()
            setOpened({ dialog: 'delete', group })
          },
        })}
        rows={groups.data}
        rowId={({ ID }) => ID}
        error={groups.error}
        onRetry={() => void groups.refetch()}
        initialSort={{ id: 'Name', desc: false }}
        onRowClick={(group) => void edit(group)}
        empty={
          <EmptyState
            icon={Group}
            title={t('admin.groups.empty')}
            text={t('admin.groups.emptyText')}
            action={create}
          />
        }
      />
      <GroupFormDialog
        open={opened.dialog === 'create' || opened.dialog === 'edit'}
        group={opened.dialog === 'edit' ? opened.group : undefined}
        onClose={close}
        onReload={() => opened.dialog === 'edit' && void edit(opened.group.data)}
      />
      <ConfirmDialog
        open={opened.dialog === 'delete'}
        onClose={close}
        onConfirm={() => opened.dialog === 'delete' && remove.mutate(opened.group.ID)}
        title={t('admin.groups.deleteTitle')}
        text={t('admin.groups.deleteText', { name: opened.dialog === 'delete' ? opened.group.Name : '' })}
        confirmLabel={t('admin.delete')}
        danger
        busy={remove.isPending}
        error={remove.error}
      />
    </>
  )
}
