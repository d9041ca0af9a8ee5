import { Check } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'

export type StepState = 'current' | 'done' | 'waiting' | 'disabled' | 'hidden'
export type Step = { id: string; label: string; state: StepState }

/** Where one is in a sequence; steps that are done can be gone back to when `onSelect` is there. */
export function Stepper({
  steps,
  onSelect,
}: {
  steps: readonly Step[]
  onSelect?: ((id: string) => void) | undefined
}) {
  const { t } = useTranslation()
  const shown = steps.filter((step) => step.state !== 'hidden')
  const current = shown.findIndex((step) => step.state === 'current')
  return (
    <nav aria-label={t('kit.steps')}>
      <p className="text-sm font-semibold text-muted sm:hidden">
        {current + 1} / {shown.length} · <span className="text-ink">{shown[current]?.label}</span>
      </p>
      <ol className="mt-2 flex items-start gap-1.5 sm:mt-0 sm:gap-0">
        {shown.map((step, index) => (
          <li
            key={step.id}
            aria-current={step.state === 'current' ? 'step' : undefined}
            className="group flex min-w-0 flex-1 flex-col gap-2"
          >
            <span aria-hidden="true" className="flex items-center">
              <Mark step={step} number={index + 1} />
              <span
                className={cx(
                  'h-1 flex-1 rounded-full sm:h-0.5 sm:group-last:invisible',
                  step.state === 'done' || step.state === 'current' ? 'bg-accent' : 'bg-line',
                  step.state === 'current' && 'sm:bg-line',
                )}
              />
            </span>
            <StepLabel step={step} onSelect={onSelect} />
          </li>
        ))}
      </ol>
    </nav>
  )
}

function Mark({ step, number }: { step: Step; number: number }) {
  return (
    <span
      className={cx(
        'hidden size-8 shrink-0 items-center justify-center rounded-full border-2 text-sm font-bold sm:flex',
        step.state === 'done' && 'border-accent bg-accent text-on-accent',
        step.state === 'current' && 'border-accent bg-surface text-accent-ink',
        (step.state === 'waiting' || step.state === 'disabled') && 'border-line bg-surface text-muted',
      )}
    >
      {step.state === 'done' ? <Check className="size-4" /> : number}
    </span>
  )
}

function StepLabel({ step, onSelect }: { step: Step; onSelect: ((id: string) => void) | undefined }) {
  const { t } = useTranslation()
  const look = cx(
    'inline-flex min-h-6 items-center text-left text-sm max-sm:sr-only sm:pr-3',
    step.state === 'current' ? 'font-bold text-ink' : 'font-medium text-muted',
  )
  const state = <span className="sr-only">, {t(stateTexts[step.state])}</span>
  if (step.state !== 'done' || !onSelect)
    return (
      <span className={look}>
        {step.label}
        {state}
      </span>
    )
  return (
    <button
      type="button"
      onClick={() => onSelect(step.id)}
      className={cx(look, 'rounded hover:text-ink hover:underline')}
    >
      {step.label}
      {state}
    </button>
  )
}

const stateTexts = {
  current: 'kit.stepCurrent',
  done: 'kit.stepDone',
  waiting: 'kit.stepWaiting',
  disabled: 'kit.stepWaiting',
  hidden: 'kit.stepWaiting',
} as const
