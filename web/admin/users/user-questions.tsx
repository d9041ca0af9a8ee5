import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { deleteUser, endAllSessions, resetUserTotp } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'

/** What is asked before it is done: about one user, or about everybody. */
export type UserQuestion = { ask: 'delete' | 'resetTotp'; user: UserRow } | { ask: 'endSessions' }

/** The questions of the users page, one at a time; a failure is said in the question itself. */
export function UserQuestions({
  question,
  onClose,
}: {
  question: UserQuestion | undefined
  onClose: () => void
}) {
  const { t } = useTranslation()
  const common = { onDone: onClose, onFailed: () => {} }
  const remove = useAdminAction({
    run: deleteUser,
    stale: [stale.users, stale.knocs, stale.groups, stale.status],
    done: 'admin.users.deleted',
    ...common,
  })
  const reset = useAdminAction({
    run: resetUserTotp,
    stale: [stale.users, stale.status],
    done: 'admin.totp.resetDone',
    ...common,
  })
  const endAll = useAdminAction<void>({
    run: endAllSessions,
    stale: [stale.users, stale.status],
    done: 'admin.users.sessionsEnded',
    ...common,
  })
  const user = question && 'user' in question ? question.user : undefined
  const name = user?.Name ?? ''
  const close = () => {
    for (const action of [remove, reset, endAll]) action.reset()
    onClose()
  }
  return (
    <>
      <ConfirmDialog
        open={question?.ask === 'delete'}
        onClose={close}
        onConfirm={() => user && remove.mutate(user.ID)}
        title={t('admin.users.deleteTitle')}
        text={t('admin.users.deleteText', { name })}
        confirmLabel={t('admin.delete')}
        danger
        busy={remove.isPending}
        error={remove.error}
      />
      <ConfirmDialog
        open={question?.ask === 'resetTotp'}
        onClose={close}
        onConfirm={() => user && reset.mutate(user.ID)}
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
