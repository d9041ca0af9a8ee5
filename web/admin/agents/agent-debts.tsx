import { useQuery } from '@tanstack/react-query'
import { DoorClosed } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { AgentDebt } from '#server/agents/agent-list.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useNow } from '../../components/use-now.ts'
import { useServerSide } from '../../components/use-server-side.ts'
import { pollMs, queries } from '../admin-queries.ts'

/** The doors that were ordered closed and not seen closed, by page: an agent may be away for long. */
export function AgentDebts({ agentId }: { agentId: string }) {
  const { t } = useTranslation()
  const { query, serverSide } = useServerSide({ id: 'Since', desc: false })
  const debts = useQuery({
    ...queries.agentDebts(agentId, query),
    refetchInterval: pollMs.agents,
  })
  return (
    <DataTable
      label={t('admin.agent.debts')}
      searchLabel={t('admin.agent.searchDebts')}
      rows={debts.data?.rows}
      rowId={({ ID }) => ID}
      error={debts.error}
      onRetry={() => void debts.refetch()}
      empty={
        <EmptyState icon={DoorClosed} title={t('admin.agent.noDebts')} text={t('admin.agent.noDebtsText')} />
      }
      columns={[
        {
          id: 'Address',
          header: t('admin.agent.address'),
          isTitle: true,
          sortable: true,
          cell: ({ Address }) => <span className="font-mono text-sm wrap-anywhere">{Address}</span>,
        },
        {
          id: 'ListName',
          header: t('admin.agent.list'),
          sortable: true,
          cell: ({ ListName }) => <span className="font-mono text-sm wrap-anywhere">{ListName}</span>,
        },
        { id: 'user', header: t('admin.agent.user'), cell: ({ UserName }) => UserName || '–' },
        {
          id: 'Since',
          header: t('admin.agent.since'),
          sortable: true,
          cell: ({ Since }) => <TimeAgo at={Since} />,
        },
        {
          id: 'Attempts',
          header: t('admin.agent.attempts'),
          sortable: true,
          cell: (debt) => <Tries debt={debt} />,
        },
        { id: 'ends', header: t('admin.agent.ends'), cell: (debt) => <End debt={debt} /> },
      ]}
      server={serverSide(debts.data?.total)}
    />
  )
}

/** Failed tries with the last one's words, or that it only waits for the agent. */
function Tries({ debt: { Attempts, LastError, NextTry } }: { debt: AgentDebt }) {
  const { t } = useTranslation()
  if (Attempts === 0) return <Badge>{t('admin.agent.waits')}</Badge>
  return (
    <span className="flex min-w-0 flex-col items-start gap-1 cards:items-end">
      <Badge tone="danger">{t('admin.agent.failed', { count: Attempts })}</Badge>
      {LastError ? <span className="text-xs break-words text-danger">{LastError}</span> : null}
      {NextTry !== null ? (
        <span className="text-xs text-muted">
          {t('admin.agent.nextTry')} <TimeAgo at={NextTry} everyMs={1_000} />
        </span>
      ) : null}
    </span>
  )
}

/** When the kernel ends it though nobody closes it. */
function End({ debt: { EndsByItselfAt } }: { debt: AgentDebt }) {
  const { t } = useTranslation()
  const now = useNow(10_000)
  if (EndsByItselfAt === null) return <Badge tone="danger">{t('admin.agent.neverEnds')}</Badge>
  if (Date.parse(EndsByItselfAt) <= now) return <Badge tone="ok">{t('admin.agent.ended')}</Badge>
  return <TimeAgo at={EndsByItselfAt} />
}
