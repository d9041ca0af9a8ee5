import { CircleAlert, CircleCheck, Info, type LucideIcon, TriangleAlert, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'
import { IconButton } from './icon-button.tsx'
import type { Tone } from './tone.ts'

type Props = {
  tone?: Tone | undefined
  title: ReactNode
  children?: ReactNode
  /** A button or link at the end. */
  action?: ReactNode
  onDismiss?: (() => void) | undefined
  className?: string | undefined
}

/** A standing message within the page. Danger is announced at once, the others politely. */
export function Banner({ tone = 'neutral', title, children, action, onDismiss, className }: Props) {
  const { t } = useTranslation()
  const { icon: Icon, look } = looks[tone]
  return (
    <div
      role={tone === 'danger' ? 'alert' : 'status'}
      className={cx('flex items-start gap-3 rounded-2xl border px-4 py-3 text-[0.9375rem]', look, className)}
    >
      <Icon aria-hidden="true" className="mt-0.5 size-5 shrink-0" />
      <div className="min-w-0 flex-1">
        <p className="font-semibold">{title}</p>
        {children ? <div className="mt-0.5 text-ink">{children}</div> : null}
      </div>
      {action}
      {onDismiss ? (
        <IconButton icon={X} label={t('kit.dismiss')} onClick={onDismiss} className="-my-1.5 -mr-2" />
      ) : null}
    </div>
  )
}

const looks: Record<Tone, { icon: LucideIcon; look: string }> = {
  neutral: { icon: Info, look: 'bg-sunken border-line text-ink' },
  accent: { icon: Info, look: 'bg-accent-soft border-accent-soft text-on-accent-soft' },
  ok: { icon: CircleCheck, look: 'bg-ok-soft border-ok-soft text-ok' },
  warn: { icon: TriangleAlert, look: 'bg-warn-soft border-warn-soft text-warn' },
  danger: { icon: CircleAlert, look: 'bg-danger-soft border-danger-soft text-danger' },
}
