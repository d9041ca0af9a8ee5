import { ShieldCheck } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { AgentDrift } from '#server/agents/agent-list.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'

/** What was found different from the orders lately, and whether it was put right. */
export function AgentDriftTable({ drift }: { drift: readonly AgentDrift[] }) {
  const { t } = useTranslation()
  const rows = drift.map((one, index) => ({ ...one, id: `${one.At} ${index}` }))
  return (
    <DataTable
      label={t('admin.agent.drift')}
      rows={rows}
      rowId={({ id }) => id}
      pageSize={10}
      empty={<EmptyState icon={ShieldCheck} title={t('admin.agent.noDrift')} />}
      columns={[
        {
          id: 'kind',
          header: t('admin.agent.found'),
          isTitle: true,
          cell: ({ Kind, Count, Sample }) => (
            <span className="flex min-w-0 flex-col">
              <span>{t(`admin.agent.drift.${Kind}`, { count: Count })}</span>
              {Kind === 'listGone' || Kind === 'listBack' ? null : (
                <span className="font-mono text-xs font-normal wrap-anywhere text-muted">
                  {Sample.join(', ')}
                </span>
              )}
            </span>
          ),
        },
        {
          id: 'list',
          header: t('admin.agent.list'),
          cell: ({ ListName }) => <span className="font-mono text-sm wrap-anywhere">{ListName}</span>,
        },
        {
          id: 'repaired',
          header: t('admin.agent.repaired'),
          cell: ({ Repaired }) => (
            <Badge tone={Repaired ? 'ok' : 'warn'}>{t(Repaired ? 'admin.yes' : 'admin.no')}</Badge>
          ),
        },
        { id: 'when', header: t('admin.home.when'), cell: ({ At }) => <TimeAgo at={At} /> },
      ]}
    />
  )
}
