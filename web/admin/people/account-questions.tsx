import { useTranslation } from 'react-i18next'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'

/** What is asked before it is done: about one account, or about everybody's sessions. */
export type AccountQuestion<Row> = { ask: 'delete' | 'resetTotp'; row: Row } | { ask: 'endSessions' }

/** An act that a question leads to. */
type Act<Input> = {
  mutate: (input: Input) => void
  isPending: boolean
  error: unknown
  reset: () => void
}

type Props<Row> = {
  question: AccountQuestion<Row> | undefined
  onClose: () => void
  remove: Act<string>
  reset: Act<string>
  endAll: Act<void>
  texts: { deleteTitle: string; deleteText: string; endTitle: string; endText: string }
}

/** The questions of the users' and the admins' page, one at a time; a failure is said in the question itself. */
export function AccountQuestions<Row extends { ID: string; Name: string }>({
  question,
  onClose,
  remove,
  reset,
  endAll,
  texts,
}: Props<Row>) {
  const { t } = useTranslation()
  const row = question && 'row' in question ? question.row : undefined
  const close = () => {
    for (const act of [remove, reset, endAll]) act.reset()
    onClose()
  }
  const dialogs = [
    {
      ask: 'delete',
      act: remove,
      confirm: () => row && remove.mutate(row.ID),
      title: texts.deleteTitle,
      text: texts.deleteText,
      label: t('admin.delete'),
    },
    {
      ask: 'resetTotp',
      act: reset,
      confirm: () => row && reset.mutate(row.ID),
      title: t('admin.totp.resetTitle'),
      text: t('admin.totp.resetText', { name: row?.Name ?? '' }),
      label: t('admin.totp.reset'),
    },
    {
      ask: 'endSessions',
      act: endAll,
      confirm: () => endAll.mutate(),
      title: texts.endTitle,
      text: texts.endText,
      label: t('admin.users.endSessions'),
    },
  ] as const
  return dialogs.map(({ ask, act, confirm, title, text, label }) => (
    <ConfirmDialog
      key={ask}
      open={question?.ask === ask}
      onClose={close}
      onConfirm={confirm}
      title={title}
      text={text}
      confirmLabel={label}
      danger
      busy={act.isPending}
      error={act.error}
    />
  ))
}
