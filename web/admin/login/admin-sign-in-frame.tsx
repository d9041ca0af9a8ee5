import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Card } from '../../components/card.tsx'
import { BrandLogo } from '../../shell/brand-logo.tsx'
import { ColourModeButton } from '../../shell/colour-mode-button.tsx'

type Props = { title: string; lead: string; children: ReactNode; footer?: ReactNode }

/** What stands around every step of an administrator's sign-in. */
export function AdminSignInFrame({ title, lead, children, footer }: Props) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-1 flex-col">
      <div className="flex justify-end p-3">
        <ColourModeButton />
      </div>
      <main className="mx-auto flex w-full max-w-md flex-1 flex-col justify-center gap-6 px-4 pb-24">
        <div className="flex items-center gap-3">
          <BrandLogo />
          <span className="rounded-md bg-accent-soft px-2 py-1 text-xs font-bold tracking-wide text-on-accent-soft uppercase">
            {t('admin.nav.console')}
          </span>
        </div>
        <Card className="flex flex-col gap-6 sm:p-8">
          <div>
            <h1 className="text-2xl font-bold tracking-tight text-ink">{title}</h1>
            <p className="mt-1 text-[0.9375rem] text-muted">{lead}</p>
          </div>
          {children}
        </Card>
        {footer}
      </main>
    </div>
  )
}
