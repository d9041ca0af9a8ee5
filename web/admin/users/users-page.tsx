import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Eye, LogOut, Pencil, Trash2, UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Menu } from '../../components/menu.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { deleteUser, endAllSessions, type Versioned } from '../admin-api.ts'
import { pollMs, queries, stale } from '../admin-queries.ts'
import { useErrorDialog } from '../shell/admin-errors.tsx'
import { useAdminAction } from '../use-admin-action.ts'
import { useDebounced } from './use-debounced.ts'
import { userColumns } from './user-columns.tsx'
import { UserDetailDialog } from './user-detail-dialog.tsx'
import { isFromProvider } from './user-eligibility.ts'
import { UserFormDialog } from './user-form-dialog.tsx'
import { UserLimitNote } from './user-limit-note.tsx'

const pageSize = 25

/** What is open above the table. */
type Opened =
  | { dialog: 'none' | 'create' | 'endSessions' }
  | { dialog: 'edit'; user: Versioned<UserRow> }
  | { dialog: 'view' | 'delete'; user: UserRow }

const none: Opened = { dialog: 'none' }

/** Users: searched, ordered and paged by the server, read again every 30 s. Console §2 "Users". */
export function UsersPage() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const showError = useErrorDialog()
  const [search, setSearch] = useState('')
  const [sort, setSort] = useState<{ id: string; desc: boolean } | null>({ id: 'Name', desc: false })
  const [page, setPage] = useState(0)
  const [opened, setOpened] = useState<Opened>(none)
  const users = useQuery({
    ...queries.users({
      limit: pageSize,
      offset: page * pageSize,
      search: useDebounced(search.trim()),
      ...(sort ? { sort: `${sort.desc ? '-' : ''}${sort.id}` } : {}),
    }),
    staleTime: 0,
    refetchInterval: pollMs.users,
  })
  const close = () => setOpened(none)
  const remove = useAdminAction({
    run: deleteUser,
    stale: [stale.users, stale.knocs, stale.groups, stale.status],
    done: 'admin.users.deleted',
    onDone: close,
    onFailed: () => {},
  })
  const endAll = useAdminAction<void>({
    run: endAllSessions,
    stale: [stale.users, stale.status],
    done: 'admin.users.sessionsEnded',
    onDone: close,
    onFailed: () => {},
  })
  /** A form starts from what the server has now, with the version to name when it is saved. */
  const edit = async ({ ID }: UserRow) => {
    try {
      setOpened({ dialog: 'edit', user: await client.fetchQuery({ ...queries.user(ID), staleTime: 0 }) })
    } catch (error) {
      showError(error)
    }
  }
  const view = (user: UserRow) => setOpened({ dialog: 'view', user })
  const menuOf = (user: UserRow) => (
    <Menu
      label={t('admin.actionsFor', { name: user.Name })}
      items={[
        { label: t('admin.view'), icon: Eye, onSelect: () => view(user) },
        ...(isFromProvider(user)
          ? []
          : [{ label: t('admin.edit'), icon: Pencil, onSelect: () => void edit(user) }]),
        {
          label: t('admin.delete'),
          icon: Trash2,
          danger: true,
          onSelect: () => {
            remove.reset()
            setOpened({ dialog: 'delete', user })
          },
        },
      ]}
    />
  )
  const create = (
    <Button variant="primary" icon={UserPlus} onClick={() => setOpened({ dialog: 'create' })}>
      {t('admin.users.create')}
    </Button>
  )
  return (
    <>
      <PageHeader title={t('admin.users.title')} description={t('admin.users.lead')} actions={create} />
      <UserLimitNote users={users.data?.rows} />
      <DataTable
        label={t('admin.users.title')}
        searchLabel={t('admin.users.search')}
        toolbar={
          <Button
            icon={LogOut}
            onClick={() => {
              endAll.reset()
              setOpened({ dialog: 'endSessions' })
            }}
          >
            {t('admin.users.endSessions')}
          </Button>
        }
        columns={userColumns({ t, menuOf })}
        rows={users.data?.rows}
        rowId={({ ID }) => ID}
        error={users.error}
        onRetry={() => void users.refetch()}
        isMuted={({ Licensed }) => !Licensed}
        onRowClick={view}
        empty={
          <EmptyState
            icon={Users}
            title={t('admin.users.empty')}
            text={t('admin.users.emptyText')}
            action={create}
          />
        }
        server={{
          total: users.data?.total ?? 0,
          search,
          onSearch: (text) => {
            setSearch(text)
            setPage(0)
          },
          sort,
          onSort: (next) => {
            setSort(next)
            setPage(0)
          },
          page,
          pageSize,
          onPage: setPage,
        }}
      />
      <UserFormDialog
        open={opened.dialog === 'create' || opened.dialog === 'edit'}
        user={opened.dialog === 'edit' ? opened.user : undefined}
        onClose={close}
      />
      <UserDetailDialog user={opened.dialog === 'view' ? opened.user : undefined} onClose={close} />
      <ConfirmDialog
        open={opened.dialog === 'delete'}
        onClose={close}
        onConfirm={() => opened.dialog === 'delete' && remove.mutate(opened.user.ID)}
        title={t('admin.users.deleteTitle')}
        text={t('admin.users.deleteText', { name: opened.dialog === 'delete' ? opened.user.Name : '' })}
        confirmLabel={t('admin.delete')}
        danger
        busy={remove.isPending}
        error={remove.error}
      />
      <ConfirmDialog
        open={opened.dialog === 'endSessions'}
        onClose={close}
        onConfirm={() => endAll.mutate()}
        title={t('admin.users.endSessionsTitle')}
        text={t('admin.users.endSessionsText')}
        confirmLabel={t('admin.users.endSessions')}
        danger
        busy={endAll.isPending}
        error={endAll.error}
      />
    </>
  )
}
