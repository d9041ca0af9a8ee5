import { lazy, Suspense } from 'react'
import { ClassicEntries } from './classic-entries.tsx'
import { HomeFrame } from './home-frame.tsx'

const ClassicUnlicensed = lazy(async () => ({
  default: (await import('./classic-unlicensed.tsx')).ClassicUnlicensed,
}))

/** The classic dashboard: the session and one table. Whoever has no licence can only log out. Portal §2 "Classic home". */
export const ClassicPage = () => (
  <HomeFrame tellsLicence>
    {({ status, onLogout }) => (
      <>
        <ClassicEntries status={status} />
        {status.Licensed && status.UserLicensed ? null : (
          <Suspense>
            <ClassicUnlicensed isUsers={status.Licensed} onLogout={onLogout} />
          </Suspense>
        )}
      </>
    )}
  </HomeFrame>
)
