import { useTranslation } from 'react-i18next'
import { BrandLogo } from '../shell/brand-logo.tsx'
import { ColourModeButton } from '../shell/colour-mode-button.tsx'
import { DoorScene } from './door-scene.tsx'
import { LoginForm } from './login-form.tsx'

/** Sign-in of users. Portal §2 "User login". */
export function LoginPage() {
  const { t } = useTranslation()
  return (
    <div className="grid min-h-dvh flex-1 lg:grid-cols-[minmax(26rem,5fr)_7fr]">
      <div className="flex flex-col bg-surface">
        <header className="flex items-center justify-between gap-4 p-5 sm:px-8">
          <BrandLogo />
          <ColourModeButton />
        </header>
        <main className="flex flex-1 flex-col justify-center px-5 py-8 sm:px-8">
          <div className="mx-auto w-full max-w-sm">
            <h1 className="text-3xl font-bold tracking-tight text-ink sm:text-4xl">{t('login.title')}</h1>
            <p className="mt-2 text-muted">{t('login.lead')}</p>
            <LoginForm />
          </div>
        </main>
        <footer className="p-5 text-sm sm:px-8">
          <a href="/admin/login" className="link inline-flex min-h-6 items-center rounded">
            {t('login.admin')}
          </a>
        </footer>
      </div>
      <DoorScene />
    </div>
  )
}
