import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { RealmPrefix } from './auth-form.ts'

/** What a tab has for one realm: users and admins sign in at providers of their own. */
export function RealmCard({ prefix, children }: { prefix: RealmPrefix; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <section className="flex min-w-0 flex-col gap-5 rounded-2xl border border-line p-4 sm:p-5">
      <h3 className="text-base font-bold text-ink">
        {t(prefix === '' ? 'admin.auth.users' : 'admin.auth.admins')}
      </h3>
      {children}
    </section>
  )
}
