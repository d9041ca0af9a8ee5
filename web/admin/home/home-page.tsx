import { useQuery } from '@tanstack/react-query'
import { Activity, DoorClosed, type LucideIcon, Server, Users } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import { Card } from '../../components/card.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { isTextKey } from '../../i18n/start-i18n.ts'
import { pollMs, queries } from '../admin-queries.ts'
import { type ActivityLine, toActivityLines } from './activity.ts'

/** What goes on: counts, and what happened last. Read again every 30 s. */
export function HomePage() {
  const { t } = useTranslation()
  const status = useQuery({ ...queries.status, staleTime: 0, refetchInterval: pollMs.home })
  const agents = useQuery(queries.agents).data
  const data = status.data
  const online = agents?.filter(({ Online }) => Online).length
  return (
    <>
      <PageHeader
        title={t('admin.home.title')}
        description={t('admin.home.lead', { name: data?.Name ?? '' })}
      />
      <ul className="grid grid-cols-1 gap-4 min-[28rem]:grid-cols-2 xl:grid-cols-4">
        <Count icon={Activity} label={t('admin.home.sessions')} value={data?.SessionCount} />
        <Count icon={DoorClosed} label={t('admin.home.knocs')} value={data?.ACLCount} href="/admin/knocs" />
        <Count icon={Users} label={t('admin.home.users')} value={data?.UserCount} href="/admin/users" />
        <Count
          icon={Server}
          label={t('admin.home.agents')}
          value={online}
          of={agents?.length}
          href="/admin/agents"
        />
      </ul>
      <section className="flex flex-col gap-4">
        <h2 className="text-lg font-bold tracking-tight text-ink">{t('admin.home.activity')}</h2>
        <RecentActivity
          lines={data && toActivityLines(data.Activity)}
          error={status.error}
          onRetry={() => void status.refetch()}
        />
      </section>
    </>
  )
}

type CountProps = {
  icon: LucideIcon
  label: string
  value: number | undefined
  of?: number | undefined
  href?: string
}

function Count({ icon: Icon, label, value, of, href }: CountProps) {
  const { i18n } = useTranslation()
  const number = (count: number) => new Intl.NumberFormat(i18n.language).format(count)
  return (
    <li>
      <Card className="relative flex h-full items-center gap-4 has-[a:hover]:border-control">
        <span className="flex size-11 shrink-0 items-center justify-center rounded-xl bg-accent-soft text-accent-ink">
          <Icon aria-hidden="true" className="size-5" />
        </span>
        <span className="flex min-w-0 flex-col">
          <span className="text-sm font-medium text-muted">
            <MaybeLink href={href}>{label}</MaybeLink>
          </span>
          {value === undefined ? (
            <Skeleton className="mt-1 h-7 w-14" />
          ) : (
            <span className="text-2xl leading-8 font-bold tracking-tight text-ink tabular-nums">
              {number(value)}
              {of === undefined ? null : (
                <span className="text-base font-semibold text-muted"> / {number(of)}</span>
              )}
            </span>
          )}
        </span>
      </Card>
    </li>
  )
}

/** The whole card is the link's area. */
function MaybeLink({ href, children }: { href: string | undefined; children: ReactNode }) {
  if (href === undefined) return children
  return (
    <Link href={href} className="rounded after:absolute after:inset-0 after:rounded-2xl">
      {children}
    </Link>
  )
}

function RecentActivity({
  lines,
  error,
  onRetry,
}: {
  lines: ActivityLine[] | undefined
  error: unknown
  onRetry: () => void
}) {
  const { t, i18n } = useTranslation()
  const textOf = (kind: string) => {
    const key = `audit.${kind}`
    return isTextKey(i18n, key) ? i18n.t(key) : kind
  }
  return (
    <DataTable
      label={t('admin.home.activity')}
      rows={lines}
      rowId={({ id }) => id}
      error={error}
      onRetry={onRetry}
      pageSize={10}
      empty={<EmptyState icon={Activity} title={t('admin.home.noActivity')} />}
      columns={[
        {
          id: 'who',
          header: t('admin.home.who'),
          isTitle: true,
          cell: ({ who }) => who ?? <span className="text-muted">–</span>,
        },
        {
          id: 'action',
          header: t('admin.home.action'),
          cell: ({ kind, about }) => (
            <span className="min-w-0">
              {textOf(kind)}
              {about ? <span className="text-muted"> · {about}</span> : null}
            </span>
          ),
        },
        { id: 'when', header: t('admin.home.when'), cell: ({ at }) => <TimeAgo at={at} /> },
      ]}
    />
  )
}
