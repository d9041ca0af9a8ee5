import { CloudOff } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'

/** What stands there when nothing is known yet and the server doesn't answer. */
export function Unreachable({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  return (
    <main role="alert" className="flex flex-1 items-center justify-center">
      <EmptyState
        icon={CloudOff}
        title={errors.ofError(error)}
        action={
          <Button variant="primary" onClick={onRetry}>
            {t('kit.retry')}
          </Button>
        }
      />
    </main>
  )
}
