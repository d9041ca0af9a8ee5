import { useTranslation } from 'react-i18next'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { deleteAdmin, endAllAdminSessions, resetAdminTotp } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { useIsOwn } from './is-own.ts'

/** What is asked before it is done: about one admin, or about all. */
export type AdminQuestion = { ask: 'delete' | 'resetTotp'; admin: AdminRow } | { ask: 'endSessions' }

/** The questions of the admins page, one at a time; a failure is said in the question itself. */
export function AdminQuestions({
  question,
  onClose,
}: {
  question: AdminQuestion | undefined
  onClose: () => void
}) {
  const { t } = useTranslation()
  const isOwn = useIsOwn()
  // The status tells as well whether whoever asks is still signed in.
  const common = { stale: [stale.admins, stale.status], onDone: onClose, onFailed: () => {} }
  const remove = useAdminAction({ run: deleteAdmin, done: 'admin.admins.deleted', ...common })
  const reset = useAdminAction({ run: resetAdminTotp, done: 'admin.totp.resetDone', ...common })
  const endAll = useAdminAction<void>({
    run: endAllAdminSessions,
    done: 'admin.admins.sessionsEnded',
    ...common,
  })
  const admin = question && 'admin' in question ? question.admin : undefined
  const name = admin?.Name ?? ''
  const close = () => {
    for (const action of [remove, reset, endAll]) action.reset()
    onClose()
  }
  return (
    <>
      <ConfirmDialog
        open={question?.ask === 'delete'}
        onClose={close}
        onConfirm={() => admin && remove.mutate(admin.ID)}
        title={t('admin.admins.deleteTitle')}
        text={
          admin && isOwn(admin) ? t('admin.admins.deleteOwnText') : t('admin.admins.deleteText', { name })
        }
        confirmLabel={t('admin.delete')}
        danger
        busy={remove.isPending}
        error={remove.error}
      />
      <ConfirmDialog
        open={question?.ask === 'resetTotp'}
        onClose={close}
        onConfirm={() => admin && reset.mutate(admin.ID)}
        title={t('admin.totp.resetTitle')}
        text={t('admin.totp.resetText', { name })}
        confirmLabel={t('admin.totp.reset')}
        danger
        busy={reset.isPending}
        error={reset.error}
      />
      <ConfirmDialog
        open={question?.ask === 'endSessions'}
        onClose={close}
        onConfirm={() => endAll.mutate()}
        title={t('admin.admins.endSessionsTitle')}
        text={t('admin.admins.endSessionsText')}
        confirmLabel={t('admin.users.endSessions')}
        danger
        busy={endAll.isPending}
        error={endAll.error}
      />
    </>
  )
}
