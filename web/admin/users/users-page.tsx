import { useQuery, useQueryClient } from '@tanstack/react-query'
import { LogOut, UserPlus, Users } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { useServerSide } from '../../components/use-server-side.ts'
import type { Versioned } from '../admin-api.ts'
import { pollMs, queries } from '../admin-queries.ts'
import type { AccountQuestion } from '../people/account-questions.tsx'
import { useErrorDialog } from '../shell/admin-errors.tsx'
import { userColumns } from './user-columns.tsx'
import { UserDetailDialog } from './user-detail-dialog.tsx'
import { UserFormDialog } from './user-form-dialog.tsx'
import { UserLimitNote } from './user-limit-note.tsx'
import { UserMenu } from './user-menu.tsx'
import { UserQuestions } from './user-questions.tsx'

/** What is open above the table. */
type Opened =
  | { dialog: 'none' | 'create' }
  | { dialog: 'edit'; user: Versioned<UserRow> }
  | { dialog: 'view'; user: UserRow }
  | { dialog: 'question'; question: AccountQuestion<UserRow> }

const none: Opened = { dialog: 'none' }

/** Users: searched, ordered and paged by the server, read again every 30 s. Console §2 "Users". */
export function UsersPage() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const showError = useErrorDialog()
  const { query, serverSide } = useServerSide({ id: 'Name', desc: false })
  const [opened, setOpened] = useState<Opened>(none)
  const users = useQuery({
    ...queries.users(query),
    staleTime: 0,
    refetchInterval: pollMs.users,
  })
  const close = () => setOpened(none)
  const ask = (question: AccountQuestion<UserRow>) => setOpened({ dialog: 'question', question })
  /** A form starts from what the server has now, with the version to name when it is saved. */
  const edit = async ({ ID }: Pick<UserRow, 'ID'>) => {
    try {
      setOpened({ dialog: 'edit', user: await client.fetchQuery({ ...queries.user(ID), staleTime: 0 }) })
    } catch (error) {
      showError(error)
    }
  }
  const view = (user: UserRow) => setOpened({ dialog: 'view', user })
  const menuOf = (user: UserRow) => (
    <UserMenu
      user={user}
      onView={() => view(user)}
      onEdit={() => void edit(user)}
      onReset={() => ask({ ask: 'resetTotp', row: user })}
      onDelete={() => ask({ ask: 'delete', row: user })}
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
          <Button icon={LogOut} onClick={() => ask({ ask: 'endSessions' })}>
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
        server={serverSide(users.data?.total)}
      />
      <UserFormDialog
        open={opened.dialog === 'create' || opened.dialog === 'edit'}
        user={opened.dialog === 'edit' ? opened.user : undefined}
        onClose={close}
        onReload={() => opened.dialog === 'edit' && void edit(opened.user.data)}
      />
      <UserDetailDialog user={opened.dialog === 'view' ? opened.user : undefined} onClose={close} />
      <UserQuestions question={opened.dialog === 'question' ? opened.question : undefined} onClose={close} />
    </>
  )
}
