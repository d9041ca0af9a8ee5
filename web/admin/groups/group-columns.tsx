import type { TFunction } from 'i18next'
import { Pencil, Trash2 } from 'lucide-react'
import type { GroupRow } from '#server/groups/group.schema.ts'
import type { DataColumn } from '../../components/data-table.tsx'
import { IconButton } from '../../components/icon-button.tsx'

type Props = { t: TFunction; onEdit: (group: GroupRow) => void; onDelete: (group: GroupRow) => void }

/** The groups table's columns. Console §2 "Groups". */
export const groupColumns = ({ t, onEdit, onDelete }: Props): DataColumn<GroupRow>[] => [
  {
    id: 'Name',
    header: t('admin.groups.name'),
    isTitle: true,
    value: ({ Name }) => Name,
    cell: ({ Name }) => Name,
  },
  {
    id: 'Type',
    header: t('admin.groups.type'),
    value: ({ Type }) => t(`admin.groupType.${Type}`),
    cell: ({ Type }) => t(`admin.groupType.${Type}`),
  },
  {
    id: 'Description',
    header: t('admin.groups.description'),
    value: ({ Description }) => Description,
    cell: ({ Description }) => <span className="block max-w-80 truncate">{Description || '-'}</span>,
  },
  {
    id: 'Knocs',
    header: t('admin.groups.knocCount'),
    value: ({ ACLIDs }) => ACLIDs.length,
    cell: ({ ACLIDs }) => <span className="tabular-nums">{ACLIDs.length}</span>,
  },
  {
    id: 'Users',
    header: t('admin.groups.userCount'),
    value: ({ UserCount }) => UserCount,
    cell: ({ UserCount }) => <span className="tabular-nums">{UserCount}</span>,
  },
  {
    id: 'actions',
    header: t('admin.edit'),
    headerHidden: true,
    align: 'end',
    cell: (group) => (
      // A click on a button is not one on the row.
      // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- stops propagation only
      <div className="flex justify-end" onClick={(event) => event.stopPropagation()}>
        <IconButton
          icon={Pencil}
          label={t('admin.editNamed', { name: group.Name })}
          onClick={() => onEdit(group)}
        />
        <IconButton
          icon={Trash2}
          tone="danger"
          label={t('admin.deleteNamed', { name: group.Name })}
          onClick={() => onDelete(group)}
        />
      </div>
    ),
  },
]
