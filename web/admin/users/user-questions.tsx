import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { deleteUser, endAllSessions, resetUserTotp } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { type AccountQuestion, AccountQuestions } from '../people/account-questions.tsx'
import { useAdminAction } from '../use-admin-action.ts'

/** The questions of the users page, one at a time; a failure is said in the question itself. */
export function UserQuestions({
  question,
  onClose,
}: {
  question: AccountQuestion<UserRow> | undefined
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
  return (
    <AccountQuestions
      {...{ question, onClose, remove, reset, endAll }}
      texts={{
        deleteTitle: t('admin.users.deleteTitle'),
        deleteText: t('admin.users.deleteText', {
          name: question && 'row' in question ? question.row.Name : '',
        }),
        endTitle: t('admin.users.endSessionsTitle'),
        endText: t('admin.users.endSessionsText'),
      }}
    />
  )
}
