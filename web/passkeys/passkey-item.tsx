import { Fingerprint, Pencil, Trash2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { PasskeyRow } from '#server/auth/passkeys/passkey.schema.ts'
import { Button } from '../components/button.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { TimeAgo } from '../components/time-ago.tsx'
import { PasskeyNameForm } from './passkey-name-form.tsx'

type Props = {
  row: PasskeyRow
  busy: boolean
  /** The form for another name opens. */
  onEdit: () => void
  /** Calls `whenDone` when the new name is stored. */
  onRename: (name: string, whenDone: () => void) => void
  onRemove: () => void
}

/** One passkey of the list: its name, since when it is there, when it was used; renamed in place. */
export function PasskeyItem({ row, busy, onEdit, onRename, onRemove }: Props) {
  const { t } = useTranslation()
  const [isRenaming, setIsRenaming] = useState(false)
  const wasRenaming = useRef(false)
  const renameButton = useRef<HTMLButtonElement>(null)
  const { Name: name } = row

  const leaveForm = () => setIsRenaming(false)
  useEffect(() => {
    // Focus was in the form that went; it goes back to the button that opened it.
    if (wasRenaming.current && !isRenaming) renameButton.current?.focus()
    wasRenaming.current = isRenaming
  }, [isRenaming])
  if (isRenaming)
    return (
      <li className="p-4">
        <PasskeyNameForm
          label={t('passkeys.nameOf', { name })}
          name={name}
          submitLabel={t('passkeys.rename')}
          busy={busy}
          autoFocus
          onSubmit={(next) => onRename(next, leaveForm)}
        >
          <Button onClick={leaveForm}>{t('kit.cancel')}</Button>
        </PasskeyNameForm>
      </li>
    )
  return (
    <li className="flex items-center gap-3 py-3 pr-2 pl-4">
      <Fingerprint aria-hidden="true" className="size-5 shrink-0 text-accent-ink max-sm:hidden" />
      <div className="min-w-0 flex-1">
        <p className="font-semibold wrap-anywhere text-ink">{name}</p>
        <p className="text-sm text-muted">
          {t('passkeys.created')} <TimeAgo at={row.CreatedAt} />
          {' · '}
          {row.LastUsedAt === null ? (
            t('passkeys.neverUsed')
          ) : (
            <>
              {t('passkeys.lastUsed')} <TimeAgo at={row.LastUsedAt} />
            </>
          )}
        </p>
      </div>
      <IconButton
        ref={renameButton}
        icon={Pencil}
        label={t('passkeys.renameNamed', { name })}
        onClick={() => {
          onEdit()
          setIsRenaming(true)
        }}
      />
      <IconButton
        icon={Trash2}
        tone="danger"
        label={t('passkeys.removeNamed', { name })}
        onClick={onRemove}
      />
    </li>
  )
}
