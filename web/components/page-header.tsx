import { ArrowLeft } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'

type Props = {
  title: string
  description?: ReactNode
  /** Buttons at the end. */
  actions?: ReactNode
  /** Where 'back' leads. */
  back?: { href: string; label: string } | undefined
}

/** A page's heading, its one h1. */
export function PageHeader({ title, description, actions, back }: Props) {
  return (
    <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-4">
      <div className="min-w-0">
        {back ? (
          <Link
            href={back.href}
            className="mb-1 inline-flex min-h-6 items-center gap-1.5 rounded text-sm font-semibold text-muted hover:text-ink"
          >
            <ArrowLeft aria-hidden="true" className="size-4" />
            {back.label}
          </Link>
        ) : null}
        <h1
          tabIndex={-1}
          className="text-2xl font-bold tracking-tight text-ink outline-none sm:text-[1.75rem]"
        >
          {title}
        </h1>
        {description ? <div className="mt-1 max-w-2xl text-[0.9375rem] text-muted">{description}</div> : null}
      </div>
      {actions ? <div className="flex flex-wrap gap-2">{actions}</div> : null}
    </header>
  )
}
