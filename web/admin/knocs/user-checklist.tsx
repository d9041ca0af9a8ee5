import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'
import { Checklist } from '../../components/checklist.tsx'
import { useDebounced } from '../../components/use-debounced.ts'
import { listUsers } from '../admin-api.ts'
import { queries, stale } from '../admin-queries.ts'
import { isFromProvider } from '../users/user-eligibility.ts'
import { type KnownUser, type Members, withKnown } from './members.ts'

/** Users asked for at once; the rest comes with 'Show more'. */
const pageSize = 50

type Props = {
  members: Members
  onChange: (members: Members) => void
  /** Below the label; by default what holds for a knoc. */
  description?: string | undefined
  action?: ReactNode
}

/** Users to choose from, found by the server: there may be 100,000. Users of an identity provider are left out. */
export function UserChecklist({ members, onChange, description, action }: Props) {
  const { t } = useTranslation()
  const [search, setSearch] = useState('')
  const [isChosenOnly, setIsChosenOnly] = useState(false)
  const found = useFoundUsers(useDebounced(search))
  const chosen = useChosenUsers(members, isChosenOnly)
  const users = isChosenOnly ? chosen.users.filter((user) => matches(user, search)) : found.users
  const choose = (userIds: string[]) => onChange({ ...withKnown(members, users), userIds })
  return (
    <div className="flex flex-col gap-2">
      <Checklist
        label={t('admin.members.users')}
        description={description ?? t('admin.members.usersText')}
        items={users.map(({ ID, Name, UserName, Company }) => ({
          id: ID,
          label: Name,
          detail: Company ? `${UserName} · ${Company}` : UserName,
        }))}
        selected={members.userIds}
        onChange={choose}
        emptyText={t(isChosenOnly ? 'admin.members.noneChosen' : 'admin.members.noUsers')}
        action={action}
        remote={{
          search,
          onSearch: setSearch,
          isLoading: isChosenOnly ? chosen.isLoading : found.isLoading,
          onMore: isChosenOnly ? undefined : found.onMore,
        }}
      />
      <Button
        size="sm"
        variant="quiet"
        className="self-start"
        aria-pressed={isChosenOnly}
        onClick={() => setIsChosenOnly(!isChosenOnly)}
      >
        {t(isChosenOnly ? 'admin.members.showAll' : 'admin.members.showChosen')}
      </Button>
    </div>
  )
}

function useFoundUsers(search: string) {
  const query = useInfiniteQuery({
    queryKey: [...stale.users.queryKey, 'picker', search],
    queryFn: ({ pageParam, signal }) =>
      listUsers({ limit: pageSize, offset: pageParam, search, sort: 'Name' }, { signal }),
    initialPageParam: 0,
    getNextPageParam: ({ total }, pages) =>
      pages.length * pageSize < total ? pages.length * pageSize : undefined,
  })
  const users = query.data?.pages.flatMap(({ rows }) => rows) ?? []
  return {
    users: users.filter((user) => !isFromProvider(user)),
    isLoading: query.isFetching,
    onMore: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
  }
}

/** Chosen users, those not on any page read so far asked for one by one; the first hundred. */
function useChosenUsers({ userIds, known }: Members, isShown: boolean) {
  const unknown = isShown ? userIds.filter((id) => known[id] === undefined).slice(0, 100) : []
  const asked = useQueries({ queries: unknown.map((id) => queries.user(id)) })
  const users: KnownUser[] = [
    ...userIds.map((id) => known[id]).filter((user) => user !== undefined),
    ...asked.flatMap(({ data }) => (data ? [data.data] : [])),
  ]
  return { users, isLoading: asked.some(({ isLoading }) => isLoading) }
}

const matches = ({ Name, UserName, Company }: KnownUser, search: string): boolean =>
  `${Name}\n${UserName}\n${Company ?? ''}`.toLowerCase().includes(search.trim().toLowerCase())
