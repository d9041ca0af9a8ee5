import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import type { AdminRow } from '#server/admins/admin.schema.ts'
import { Badge } from '../../components/badge.tsx'
import type { DataColumn } from '../../components/data-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'

type Props = {
  t: TFunction
  isOwn: (admin: AdminRow) => boolean
  menuOf: (admin: AdminRow) => ReactNode
}

/** The admins table's columns. Console §2 "Admins". */
export const adminColumns = ({ t, isOwn, menuOf }: Props): DataColumn<AdminRow>[] => [
  {
    id: 'Name',
    header: t('admin.users.name'),
    isTitle: true,
    value: ({ Name }) => Name,
    cell: (admin) => (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {admin.Name}
        {isOwn(admin) ? <Badge tone="accent">{t('admin.admins.you')}</Badge> : null}
      </span>
    ),
  },
  {
    id: 'AuthType',
    header: t('admin.users.authType'),
    value: ({ AuthType }) => t(`admin.authType.${AuthType}`),
    cell: ({ AuthType }) => t(`admin.authType.${AuthType}`),
  },
  {
    id: 'UserName',
    header: t('admin.users.userName'),
    value: ({ UserName }) => UserName,
    cell: ({ UserName, LoginEnabled }) => (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="break-all">{UserName}</span>
        {LoginEnabled ? null : <Badge tone="danger">{t('admin.admins.disabled')}</Badge>}
      </span>
    ),
  },
  {
    id: 'LastLogin',
    header: t('admin.users.lastLogin'),
    value: ({ LastLogin }) => LastLogin,
    cell: ({ LastLogin }) =>
      LastLogin === null ? (
        <span className="text-muted">{t('admin.users.never')}</span>
      ) : (
        <span className="whitespace-nowrap">
          <TimeAgo at={LastLogin} everyMs={30_000} />
        </span>
      ),
  },
  {
    id: 'actions',
    header: t('kit.actions'),
    headerHidden: true,
    align: 'end',
    // A click on the menu is not one on the row.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- stops propagation only
    cell: (admin) => <div onClick={(event) => event.stopPropagation()}>{menuOf(admin)}</div>,
  },
]
