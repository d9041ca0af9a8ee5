import { Eye, Pencil, ShieldOff, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { UserRow } from '#server/users/user.schema.ts'
import { Menu } from '../../components/menu.tsx'
import { isFromProvider } from './user-eligibility.ts'

type Props = {
  user: UserRow
  onView: () => void
  onEdit: () => void
  onReset: () => void
  onDelete: () => void
}

/** What can be done with one user. A provider's user can't be edited; only who uses TOTP can be reset. Console §2. */
export function UserMenu({ user, onView, onEdit, onReset, onDelete }: Props) {
  const { t } = useTranslation()
  return (
    <Menu
      label={t('admin.actionsFor', { name: user.Name })}
      items={[
        { label: t('admin.view'), icon: Eye, onSelect: onView },
        ...(isFromProvider(user) ? [] : [{ label: t('admin.edit'), icon: Pencil, onSelect: onEdit }]),
        ...(user.TOTPEnabled ? [{ label: t('admin.totp.reset'), icon: ShieldOff, onSelect: onReset }] : []),
        { label: t('admin.delete'), icon: Trash2, danger: true, onSelect: onDelete },
      ]}
    />
  )
}
