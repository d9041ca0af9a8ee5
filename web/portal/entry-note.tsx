import { useTranslation } from 'react-i18next'
import { isTextKey } from '../i18n/start-i18n.ts'
import { useErrorText } from '../i18n/use-error-text.ts'
import type { EntryProps } from './entry-parts.tsx'
import { EntryReading } from './entry-times.tsx'
import type { EntryView } from './entry-view.ts'

type Props = Pick<EntryProps, 'entry' | 'failure'> & { view: EntryView }

/** What went wrong, why nothing can be done here and now, and what is special about the entry. */
export function EntryNote({ entry, view, failure }: Props) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-1 empty:hidden">
      <Fault entry={entry} failure={failure} />
      {view.restriction === null ? null : <Restriction restriction={view.restriction} />}
      {entry.Passive && view.restriction === null ? <EntryReading entry={entry} /> : null}
      {entry.GrantTypeFixedIps ? <p className="text-sm text-muted">{t('entry.fixedAddressesText')}</p> : null}
    </div>
  )
}

/** The last click's refusal, else the error that the entry stands in. */
function Fault({ entry, failure }: Pick<Props, 'entry' | 'failure'>) {
  const { i18n } = useTranslation()
  const errors = useErrorText()
  const text = failure
    ? errors.ofError(failure)
    : entry.Error && (isTextKey(i18n, entry.Error) ? i18n.t(entry.Error) : entry.Error)
  if (!text) return null
  return (
    <p role={failure ? 'alert' : undefined} className="text-sm font-medium wrap-anywhere text-danger">
      {text}
    </p>
  )
}

function Restriction({ restriction }: { restriction: NonNullable<EntryView['restriction']> }) {
  const { t } = useTranslation()
  const sentences = [
    // The badge says so of all others.
    restriction === 'agentOffline' ? `${t('entry.restricted')}.` : null,
    restriction === 'unexplained' ? null : t(`entry.restrictedBy.${restriction}`),
    t('entry.restrictedText'),
  ]
  return <p className="text-sm text-muted">{sentences.filter(Boolean).join(' ')}</p>
}
