import { useTranslation } from 'react-i18next'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { CodeBlock } from '../components/code-block.tsx'

/** A new API key, shown this once. It closes by its button only: a stray click would lose the key. Console §2 "API keys". */
export function PlainKeyDialog({
  plainKey,
  name,
  onClose,
}: {
  plainKey: string | undefined
  name: string
  onClose: () => void
}) {
  const { t } = useTranslation()
  return (
    <Dialog
      open={plainKey !== undefined}
      onClose={() => {}}
      role="alertdialog"
      title={t('admin.userKey.title', { name })}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('kit.close')}
        </Button>
      }
    >
      <div className="flex flex-col gap-4 pb-2">
        <Banner tone="warn" title={t('admin.userKey.once')} />
        <CodeBlock label={t('admin.userKey.key')} text={plainKey ?? ''} copyLabel={t('admin.userKey.copy')} />
      </div>
    </Dialog>
  )
}
