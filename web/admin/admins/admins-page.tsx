import { useQuery, useQueryClient } from '@tanstack/react-query'
import { LogOut, ShieldUser, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import type { Versioned } from '../admin-api.ts'
import { queries } from '../admin-queries.ts'
import type { AccountQuestion } from '../people/account-questions.tsx'
import { useErrorDialog } from '../shell/admin-errors.tsx'
import { adminColumns } from './admin-columns.tsx'
import { AdminDetailDialog } from './admin-detail-dialog.tsx'
import { AdminFormDialog } from './admin-form-dialog.tsx'
import { AdminMenu } from './admin-menu.tsx'
import { AdminQuestions } from './admin-questions.tsx'
import { useIsOwn } from './is-own.ts'

/** What is open above the table. */
type Opened =
  | { dialog: 'none' | 'create' }
  | { dialog: 'edit'; admin: Versioned<AdminRow> }
  | { dialog: 'view'; admin: AdminRow }
  | { dialog: 'question'; question: AccountQuestion<AdminRow> }

const none: Opened = { dialog: 'none' }

/** Administrators: who they are, and where they are signed in. Console §2 "Admins". */
export function AdminsPage() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const showError = useErrorDialog()
  const isOwn = useIsOwn()
  const admins = useQuery({ ...queries.admins, staleTime: 0 })
  const [opened, setOpened] = useState<Opened>(none)
  const close = () => setOpened(none)
  const ask = (question: AccountQuestion<AdminRow>) => setOpened({ dialog: 'question', question })
  const view = (admin: AdminRow) => setOpened({ dialog: 'view', admin })
  /** A form starts from what the server has now, with the version to name when it is saved. */
  const edit = async ({ ID }: Pick<AdminRow, 'ID'>) => {
    try {
      setOpened({ dialog: 'edit', admin: await client.fetchQuery({ ...queries.admin(ID), staleTime: 0 }) })
    } catch (error) {
      showError(error)
    }
  }
  const menuOf = (admin: AdminRow) => (
    <AdminMenu
      admin={admin}
      isOwn={isOwn(admin)}
      onView={() => view(admin)}
      onEdit={() => void edit(admin)}
      onReset={() => ask({ ask: 'resetTotp', row: admin })}
      onDelete={() => ask({ ask: 'delete', row: admin })}
    />
  )
  const create = (
    <Button variant="primary" icon={UserPlus} onClick={() => setOpened({ dialog: 'create' })}>
      {t('admin.admins.create')}
    </Button>
  )
  return (
    <>
      <PageHeader title={t('admin.admins.title')} description={t('admin.admins.lead')} actions={create} />
      <DataTable
        label={t('admin.admins.title')}
        searchLabel={t('admin.admins.search')}
        toolbar={
          <Button icon={LogOut} onClick={() => ask({ ask: 'endSessions' })}>
            {t('admin.admins.endSessions')}
          </Button>
        }
        columns={adminColumns({ t, isOwn, menuOf })}
        rows={admins.data}
        rowId={({ ID }) => ID}
        error={admins.error}
        onRetry={() => void admins.refetch()}
        initialSort={{ id: 'Name', desc: false }}
        isMuted={({ LoginEnabled }) => !LoginEnabled}
        onRowClick={view}
        empty={<EmptyState icon={ShieldUser} title={t('admin.admins.title')} action={create} />}
      />
      <AdminFormDialog
        open={opened.dialog === 'create' || opened.dialog === 'edit'}
        admin={opened.dialog === 'edit' ? opened.admin : undefined}
        onClose={close}
        onReload={() => opened.dialog === 'edit' && void edit(opened.admin.data)}
      />
      <AdminDetailDialog admin={opened.dialog === 'view' ? opened.admin : undefined} onClose={close} />
      <AdminQuestions question={opened.dialog === 'question' ? opened.question : undefined} onClose={close} />
    </>
  )
}
