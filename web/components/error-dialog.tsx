import { useTranslation } from 'react-i18next'
import { useErrorText } from '../i18n/use-error-text.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** Title 'Error' and what went wrong; open while there is an error. */
export function ErrorDialog({ error, onClose }: { error: unknown; onClose: () => void }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  return (
    <Dialog
      open={error !== null && error !== undefined}
      onClose={onClose}
      role="alertdialog"
      size="sm"
      title={t('error.title')}
      description={errors.ofError(error)}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('kit.ok')}
        </Button>
      }
    />
  )
}
