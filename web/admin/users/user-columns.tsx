import type { TFunction } from 'i18next'
import { CircleSlash, Radio } from 'lucide-react'
import type { ReactNode } from 'react'
import type { UserRow } from '#server/users/user.schema.ts'
import { Badge } from '../../components/badge.tsx'
import type { DataColumn } from '../../components/data-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Tooltip } from '../../components/tooltip.tsx'

/** The users table's columns; ids are the wire's field names, by which the server sorts. Console §2. */
export const userColumns = ({
  t,
  menuOf,
}: {
  t: TFunction
  menuOf: (user: UserRow) => ReactNode
}): DataColumn<UserRow>[] => [
  {
    id: 'Name',
    header: t('admin.users.name'),
    isTitle: true,
    sortable: true,
    cell: (user) => <UserName user={user} t={t} />,
  },
  {
    id: 'Company',
    header: t('admin.users.company'),
    sortable: true,
    cell: ({ Company }) => <span className="block max-w-36 truncate">{Company || '-'}</span>,
  },
  {
    id: 'Duration',
    header: t('admin.users.durationColumn'),
    sortable: true,
    cell: ({ Duration }) => (
      <span className="whitespace-nowrap tabular-nums">{t('admin.minutesShort', { count: Duration })}</span>
    ),
  },
  {
    id: 'AuthType',
    header: t('admin.users.authType'),
    sortable: true,
    cell: ({ AuthType }) => t(`admin.authType.${AuthType}`),
  },
  { id: 'UserName', header: t('admin.users.userName'), sortable: true, cell: ({ UserName }) => UserName },
  {
    id: 'LastLogin',
    header: t('admin.users.lastLogin'),
    sortable: true,
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
    id: 'ActiveSession',
    header: t('admin.users.activeSession'),
    cell: ({ ActiveSession }) =>
      ActiveSession ? (
        <Badge tone="ok" icon={Radio}>
          {t('admin.users.active')}
        </Badge>
      ) : (
        <span className="text-muted">–</span>
      ),
  },
  {
    id: 'actions',
    header: t('kit.actions'),
    headerHidden: true,
    align: 'end',
    // A click on the menu is not one on the row.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- stops propagation only
    cell: (user) => <div onClick={(event) => event.stopPropagation()}>{menuOf(user)}</div>,
  },
]

function UserName({ user, t }: { user: UserRow; t: TFunction }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2 gap-y-1 rows:min-w-32">
      {user.Licensed ? (
        user.Name
      ) : (
        <Tooltip text={t('admin.users.unlicensed')}>
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- carries the tooltip */}
          <span tabIndex={0} className="rounded">
            {user.Name}
          </span>
        </Tooltip>
      )}
      {user.LoginEnabled ? null : <Badge icon={CircleSlash}>{t('admin.users.disabled')}</Badge>}
    </span>
  )
}
