import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { PasskeyRow } from '#server/auth/passkeys/passkey.schema.ts'
import { Banner } from '../components/banner.tsx'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { Dialog } from '../components/dialog.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { useErrorText } from '../i18n/use-error-text.ts'
import { deletePasskey, renamePasskey } from './passkey-api.ts'
import { PasskeyItem } from './passkey-item.tsx'
import { PasskeyNameForm } from './passkey-name-form.tsx'
import { hasPasskeys } from './use-passkey-act.ts'
import { usePasskeys } from './use-passkeys.ts'

type Props = { realm: 'user' | 'admin'; open: boolean; onClose: () => void }

/**
 * The passkeys of the account signed in: what there is, adding with a name, renaming, removing. For accounts of
 * AuthType local or LDAP; the server refuses others. Load it with the first use: `lazy(async () => …)`.
 */
export function PasskeysDialog({ realm, open, onClose }: Props) {
  const { t } = useTranslation()
  return (
    <Dialog open={open} onClose={onClose} title={t('passkeys.title')} description={t('passkeys.text')}>
      <Passkeys realm={realm} />
    </Dialog>
  )
}

/** Comes and goes with the open dialog: what was typed and what went wrong don't stay. */
function Passkeys({ realm }: Pick<Props, 'realm'>) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { rows, isLoading, isBusy, failure, done, change, forget } = usePasskeys(realm)
  const [removed, setRemoved] = useState<PasskeyRow | null>(null)
  /** Grows with each passkey made, so that the next one begins with an empty form. */
  const [madeCount, setMadeCount] = useState(0)

  const add = (name: string) =>
    change(
      {
        act: async () => (await import('./passkey-ceremony.ts')).addPasskey(realm, name),
        done: 'passkeys.added',
      },
      { onSuccess: () => setMadeCount(madeCount + 1) },
    )
  const rename = (id: string, name: string, whenDone: () => void) =>
    change({ act: () => renamePasskey(realm, id, name), done: 'passkeys.renamed' }, { onSuccess: whenDone })
  const remove = (id: string) =>
    change(
      { act: () => deletePasskey(realm, id), done: 'passkeys.removed' },
      { onSuccess: () => setRemoved(null) },
    )
  const ask = (row: PasskeyRow | null) => {
    forget()
    setRemoved(row)
  }
  return (
    <div className="flex flex-col gap-5">
      {failure && removed === null ? (
        <Banner tone="danger" title={t('error.labelled', { message: errors.ofError(failure) })} />
      ) : null}
      {/* Not a toast: what is outside of an open dialog isn't read to anybody. */}
      {done ? <Banner tone="ok" title={t(done)} /> : null}
      {isLoading ? <Loading /> : null}
      {rows?.length === 0 ? (
        <EmptyState icon={Fingerprint} title={t('passkeys.empty')} text={t('passkeys.emptyText')} />
      ) : null}
      {rows && rows.length > 0 ? (
        <ul aria-label={t('passkeys.title')} className="divide-y divide-line rounded-2xl border border-line">
          {rows.map((row) => (
            <PasskeyItem
              key={row.ID}
              row={row}
              busy={isBusy}
              onEdit={forget}
              onRename={(name, whenDone) => rename(row.ID, name, whenDone)}
              onRemove={() => ask(row)}
            />
          ))}
        </ul>
      ) : null}
      {hasPasskeys() ? (
        <PasskeyNameForm
          key={madeCount}
          label={t('passkeys.newName')}
          description={t('passkeys.newNameText')}
          submitLabel={t('passkeys.add')}
          busy={isBusy}
          onSubmit={add}
        />
      ) : (
        <Banner tone="warn" title={t('passkeys.unsupported')} />
      )}
      <ConfirmDialog
        open={removed !== null}
        onClose={() => ask(null)}
        onConfirm={() => removed && remove(removed.ID)}
        title={t('passkeys.removeTitle')}
        text={t('passkeys.removeText', { name: removed?.Name ?? '' })}
        confirmLabel={t('passkeys.remove')}
        danger
        busy={isBusy}
        error={failure}
      />
    </div>
  )
}

function Loading() {
  const { t } = useTranslation()
  return (
    <output aria-label={t('kit.loading')} className="flex flex-col gap-3">
      <Skeleton className="h-14 w-full" />
      <Skeleton className="h-14 w-full" />
    </output>
  )
}
