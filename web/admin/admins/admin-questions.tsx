import { useTranslation } from 'react-i18next'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import { deleteAdmin, endAllAdminSessions, resetAdminTotp } from '../admin-api.ts'
import { stale } from '../admin-queries.ts'
import { type AccountQuestion, AccountQuestions } from '../people/account-questions.tsx'
import { useAdminAction } from '../use-admin-action.ts'
import { useIsOwn } from './is-own.ts'

/** The questions of the admins page, one at a time; a failure is said in the question itself. */
export function AdminQuestions({
  question,
  onClose,
}: {
  question: AccountQuestion<AdminRow> | undefined
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
  const row = question && 'row' in question ? question.row : undefined
  return (
    <AccountQuestions
      {...{ question, onClose, remove, reset, endAll }}
      texts={{
        deleteTitle: t('admin.admins.deleteTitle'),
        deleteText:
          row && isOwn(row)
            ? t('admin.admins.deleteOwnText')
            : t('admin.admins.deleteText', { name: row?.Name ?? '' }),
        endTitle: t('admin.admins.endSessionsTitle'),
        endText: t('admin.admins.endSessionsText'),
      }}
    />
  )
}
