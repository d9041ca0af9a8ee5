import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { DoorMark } from './logo.tsx'

type Props = {
  /** Without an icon the product's door stands there. */
  icon?: LucideIcon | undefined
  title: string
  text?: ReactNode
  action?: ReactNode
}

/** What stands where there is nothing yet. */
export function EmptyState({ icon: Icon, title, text, action }: Props) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-14 text-center">
      <span className="mb-2 flex size-16 items-center justify-center rounded-2xl bg-accent-soft text-accent-ink">
        {Icon ? <Icon aria-hidden="true" className="size-7" /> : <DoorMark className="size-9" />}
      </span>
      <p className="text-lg font-bold tracking-tight text-ink">{title}</p>
      {text ? <div className="max-w-md text-[0.9375rem] text-muted">{text}</div> : null}
      {action ? <div className="mt-3">{action}</div> : null}
    </div>
  )
}
