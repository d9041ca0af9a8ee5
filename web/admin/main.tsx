import { adminCatalogues } from '../i18n/admin-catalogues.ts'
import adminTexts from '../i18n/en-AU.admin.json' with { type: 'json' }
import { startApp } from '../shell/start-app.tsx'
import { AdminApp } from './admin-app.tsx'

startApp((queryClient) => <AdminApp queryClient={queryClient} />, {
  texts: adminTexts,
  catalogues: adminCatalogues,
})
