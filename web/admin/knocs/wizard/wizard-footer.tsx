import { ArrowLeft, ArrowRight, Check } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/button.tsx'

type Props = {
  isLast: boolean
  canGoOn: boolean
  busy: boolean
  /** Why Next is disabled. */
  hint: string | undefined
  onBack: () => void
  onNext: () => void
}

/** Back and Next of a wizard; Submit on the last step. Stays in view. */
export function WizardFooter({ isLast, canGoOn, busy, hint, onBack, onNext }: Props) {
  const { t } = useTranslation()
  return (
    <div className="sticky bottom-0 z-10 -mx-4 mt-auto -mb-6 flex flex-wrap items-center gap-3 border-t border-line bg-page px-4 py-4 sm:-mx-6 sm:px-6 lg:-mx-8 lg:-mb-8 lg:px-8">
      <Button icon={ArrowLeft} onClick={onBack} disabled={busy}>
        {t('kit.back')}
      </Button>
      {hint ? <p className="text-sm text-muted max-sm:order-last max-sm:w-full">{hint}</p> : null}
      <Button
        variant="primary"
        icon={isLast ? Check : ArrowRight}
        className="ml-auto"
        disabled={!canGoOn}
        busy={busy}
        onClick={onNext}
      >
        {t(isLast ? 'admin.wizard.submit' : 'admin.wizard.next')}
      </Button>
    </div>
  )
}
