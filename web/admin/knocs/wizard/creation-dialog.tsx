import { Check, Circle } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { CreationProgress } from '#machines/knoc-create.machine.ts'
import { Dialog } from '../../../components/dialog.tsx'
import { Spinner } from '../../../components/spinner.tsx'

/** How far the creation is; there is nothing to click, it ends by itself. */
export function CreationDialog({ open, progress }: { open: boolean; progress: readonly CreationProgress[] }) {
  const { t } = useTranslation()
  return (
    <Dialog open={open} onClose={() => {}} role="alertdialog" size="sm" title={t('admin.wizard.creating')}>
      <ul aria-live="polite" className="flex flex-col gap-3 pb-3">
        {progress.map(({ step, state }) => (
          <li key={step} className="flex items-center gap-3 text-[0.9375rem] text-ink">
            <span className="flex size-6 items-center justify-center">
              {state === 'done' ? (
                <Check aria-hidden="true" className="size-5 text-ok" />
              ) : state === 'current' ? (
                <Spinner className="size-5 text-accent-ink" />
              ) : (
                <Circle aria-hidden="true" className="size-4 text-muted" />
              )}
            </span>
            <span className={state === 'waiting' ? 'text-muted' : undefined}>
              {t(`admin.creation.${step}`)}
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
