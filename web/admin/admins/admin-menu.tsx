import { Eye, Pencil, ShieldOff, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import { Menu } from '../../components/menu.tsx'

type Props = {
  admin: AdminRow
  isOwn: boolean
  onView: () => void
  onEdit: () => void
  onReset: () => void
  onDelete: () => void
}

/** What can be done with one admin; nobody resets the own second factor. Console §2 "Admins", portal §5. */
export function AdminMenu({ admin, isOwn, onView, onEdit, onReset, onDelete }: Props) {
  const { t } = useTranslation()
  return (
    <Menu
      label={t('admin.actionsFor', { name: admin.Name })}
      items={[
        { label: t('admin.view'), icon: Eye, onSelect: onView },
        { label: t('admin.edit'), icon: Pencil, onSelect: onEdit },
        ...(admin.TOTPEnabled && !isOwn
          ? [{ label: t('admin.totp.reset'), icon: ShieldOff, onSelect: onReset }]
          : []),
        { label: t('admin.delete'), icon: Trash2, danger: true, onSelect: onDelete },
      ]}
    />
  )
}
