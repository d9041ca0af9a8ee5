import { useEffect, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { AclStatus, UserStatus } from '#server/status/status.schema.ts'
import { Banner } from '../components/banner.tsx'
import { Button } from '../components/button.tsx'
import { browserStorage } from '../shell/browser-storage.ts'
import {
  dropReferrer,
  findReturn,
  goBackTo,
  keptReferrer,
  type Referrer,
  returnAddress,
  standsOpen,
} from './referrer.ts'
import { visibleEntries } from './sections.ts'

/**
 * Goes back to the page that sent somebody here (`?referrer=`) once its entry stands open, and says so until then. A
 * page that belongs to no entry is dropped.
 */
export function ReturnNotice({ status }: { status: UserStatus }) {
  const { t } = useTranslation()
  const [referrer, setReferrer] = useState(() => judge(status))
  const entry = useMemo(
    () => (isReferrer(referrer) ? findReturn(referrer.url, visibleEntries(status.ACLs)) : undefined),
    [referrer, status.ACLs],
  )
  const mayGo = entry !== undefined && standsOpen(entry)

  useEffect(() => {
    if (referrer === 'foreign') dropReferrer()
    if (!isReferrer(referrer) || !entry) return
    // Somebody who was sent here goes back there, not to where everybody is sent.
    browserStorage.writeSession('autoBrowseDone', status.Session)
    if (mayGo && !referrer.isRepeated) goBackTo(referrer.url, returnAddress(referrer.url, entry))
  }, [referrer, entry, mayGo, status.Session])

  if (referrer === 'foreign')
    return <Banner title={t('return.foreign')} onDismiss={() => setReferrer(null)} />
  if (!isReferrer(referrer) || !entry) return null
  const stay = () => {
    dropReferrer()
    setReferrer(null)
  }
  const facts = { host: new URL(referrer.url).host, name: entry.Description }
  return (
    <Banner
      tone="accent"
      title={t(textOf(entry, mayGo), facts)}
      action={
        <div className="flex shrink-0 flex-wrap justify-end gap-2">
          {mayGo ? (
            <Button size="sm" onClick={() => goBackTo(referrer.url, returnAddress(referrer.url, entry))}>
              {t('return.go')}
            </Button>
          ) : null}
          <Button size="sm" variant="quiet" onClick={stay}>
            {t('return.stay')}
          </Button>
        </div>
      }
    />
  )
}

/** What this tab is to go back to, when the dashboard is drawn first. */
function judge({ ACLs }: Pick<UserStatus, 'ACLs'>): Referrer | 'foreign' | null {
  const referrer = keptReferrer()
  return referrer && !findReturn(referrer.url, visibleEntries(ACLs)) ? 'foreign' : referrer
}

const isReferrer = (referrer: Referrer | 'foreign' | null): referrer is Referrer =>
  referrer !== null && referrer !== 'foreign'

function textOf({ ClickToGrant }: AclStatus, mayGo: boolean) {
  if (mayGo) return 'return.ready'
  return ClickToGrant ? 'return.click' : 'return.wait'
}
