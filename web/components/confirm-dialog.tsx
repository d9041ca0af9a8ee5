import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../i18n/use-error-text.ts'
import { Banner } from './banner.tsx'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

type Props = {
  open: boolean
  onClose: () => void
  onConfirm: () => void
  title: string
  /** What will happen; names the thing. */
  text: ReactNode
  confirmLabel?: string | undefined
  /** Red, for what can't be undone. */
  danger?: boolean | undefined
  busy?: boolean | undefined
  /** Why the last try failed; the dialog stays open. */
  error?: unknown
}

/** Asks before something is done. */
export function ConfirmDialog({
  open,
  onClose,
  onConfirm,
  title,
  text,
  confirmLabel,
  danger,
  busy,
  error,
}: Props) {
  const { t } = useTranslation()
  const errors = useErrorText()
  return (
    <Dialog
      open={open}
      onClose={onClose}
      role="alertdialog"
      size="sm"
      title={title}
      description={text}
      footer={
        <>
          <Button onClick={onClose}>{t('kit.cancel')}</Button>
          <Button variant={danger ? 'danger' : 'primary'} busy={busy} onClick={onConfirm}>
            {confirmLabel ?? t('kit.confirm')}
          </Button>
        </>
      }
    >
      {error ? <Banner tone="danger" title={errors.ofError(error)} /> : null}
    </Dialog>
  )
}
