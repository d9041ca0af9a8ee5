import type { ReactNode } from 'react'
import { BrandLogo } from '../shell/brand-logo.tsx'
import { ColourModeButton } from '../shell/colour-mode-button.tsx'
import { DoorScene } from './door-scene.tsx'

/** What the pages of signing in stand in: logo and colours above, a wall of doors beside. */
export function SignInFrame({
  title,
  lead,
  footer,
  children,
}: {
  title: string
  lead: string
  footer?: ReactNode
  children: ReactNode
}) {
  return (
    <div className="grid min-h-dvh flex-1 grid-cols-[minmax(0,1fr)] lg:grid-cols-[minmax(26rem,5fr)_7fr] print:block">
      <div className="flex flex-col bg-surface">
        <header className="flex items-center justify-between gap-4 p-5 sm:px-8 print:hidden">
          <BrandLogo />
          <ColourModeButton />
        </header>
        <main className="flex flex-1 flex-col justify-center px-5 py-8 sm:px-8">
          <div className="mx-auto w-full max-w-sm">
            <h1 className="text-3xl font-bold tracking-tight text-ink sm:text-4xl">{title}</h1>
            <p className="mt-2 text-muted">{lead}</p>
            <div className="mt-8">{children}</div>
          </div>
        </main>
        <footer className="min-h-16 p-5 text-sm sm:px-8 print:hidden">{footer}</footer>
      </div>
      <DoorScene />
    </div>
  )
}
