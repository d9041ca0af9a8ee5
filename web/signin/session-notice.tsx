import { Hourglass } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { timeSpan } from '../components/relative-time.ts'
import type { ExpiryStage } from './session-expiry.ts'

type Props = {
  stage: ExpiryStage
  leftMs: number
  /** Why the session can't go on; undefined when it can. */
  obstacle?: string | undefined
  /** A step that is under way, or why it failed. */
  children?: ReactNode
  onStay: () => void
  /** 'Not now': the loud warning becomes the quiet line again. */
  onLater: () => void
  isLater: boolean
}

/**
 * The warning before a session's end: a quiet line in the page, and in the last minutes a dialog in the corner. It is
 * no modal and takes no focus: whoever is typing goes on typing.
 */
export function SessionNotice({ stage, leftMs, obstacle, children, onStay, onLater, isLater }: Props) {
  const { t, i18n } = useTranslation()
  const titleId = useId()
  if (stage === 'far' || stage === 'over') return null
  const title = t('extend.soon', { time: timeSpan(leftMs, i18n.language) })
  const stay = (variant?: 'primary') =>
    obstacle === undefined ? (
      <Button size="sm" variant={variant} onClick={onStay}>
        {t('extend.stay')}
      </Button>
    ) : null

  if (stage === 'soon' || isLater)
    return (
      // Not a live region: it changes by itself, and the loud warning is still to come.
      <section
        aria-label={t('extend.region')}
        className="rounded-2xl bg-sunken px-4 py-3 text-[0.9375rem] text-ink"
      >
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <p className="flex min-w-0 flex-1 basis-52 items-start gap-3">
            <Hourglass aria-hidden="true" className="mt-0.5 size-5 shrink-0 text-muted" />
            <span>{title}</span>
          </p>
          {stay()}
        </div>
        {obstacle ? <p className="mt-1 text-muted">{obstacle}</p> : null}
        {children}
      </section>
    )
  return (
    <dialog
      open
      aria-labelledby={titleId}
      className="fixed inset-x-3 top-auto m-0 w-auto bottom-3 z-20 rounded-2xl border border-line bg-surface p-4 shadow-high sm:left-auto sm:right-6 sm:bottom-6 sm:w-96"
    >
      <Banner
        tone="warn"
        title={
          <>
            <span id={titleId} aria-hidden="true">
              {title}
            </span>
            {/* Spoken once a minute, not every second. */}
            <span className="sr-only">
              {t('extend.soon', { time: timeSpan(Math.ceil(leftMs / 60_000) * 60_000, i18n.language) })}
            </span>
          </>
        }
      >
        {obstacle ?? t('extend.soonText')}
      </Banner>
      {children}
      <div className="mt-3 flex justify-end gap-2">
        <Button size="sm" variant="quiet" onClick={onLater}>
          {t('extend.later')}
        </Button>
        {stay('primary')}
      </div>
    </dialog>
  )
}
