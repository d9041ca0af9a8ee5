import { useQuery } from '@tanstack/react-query'
import { Ban, Server } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { AgentRow } from '#server/agents/agent.schema.ts'
import { Badge } from '../../../components/badge.tsx'
import { buttonClass } from '../../../components/button.tsx'
import { DataTable } from '../../../components/data-table.tsx'
import { EmptyState } from '../../../components/empty-state.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { Tooltip } from '../../../components/tooltip.tsx'
import { queries } from '../../admin-queries.ts'
import { OnlineMark } from '../../components/online-mark.tsx'
import { findOsName } from '../knoc-review.ts'
import { findOnlyCapable, isAgentCapable, type KnocType } from '../knoc-types.ts'

type Props = {
  type: KnocType
  agents: readonly AgentRow[] | undefined
  error: unknown
  onRetry: () => void
  agentId: string | null
  onChoose: (id: string) => void
}

/** The agent that carries out the grants. One capable agent is chosen by itself; incapable ones can't be. */
export function AgentStep({ type, agents, error, onRetry, agentId, onChoose }: Props) {
  const { t } = useTranslation()
  const minimum = useQuery(queries.status).data?.MinimumRequiredAgentVersion.version
  const hasChosen = useRef(agentId !== null)
  useEffect(() => {
    if (hasChosen.current || agents === undefined || minimum === undefined) return
    hasChosen.current = true
    const only = findOnlyCapable(agents, type, minimum)
    if (only) onChoose(only.ID)
  }, [agents, minimum, type, onChoose])
  const isCapable = (agent: AgentRow) => minimum !== undefined && isAgentCapable(agent, type, minimum)
  const reason = t('admin.wizard.incapable', { type: t(`knocType.${type.key}`) })
  return (
    <DataTable
      label={t('admin.step.agent')}
      searchLabel={(agents?.length ?? 0) > 8 ? t('admin.agents.search') : undefined}
      rows={agents}
      rowId={({ ID }) => ID}
      error={error}
      onRetry={onRetry}
      initialSort={{ id: 'name', desc: false }}
      isMuted={(agent) => !isCapable(agent)}
      onRowClick={(agent) => isCapable(agent) && onChoose(agent.ID)}
      empty={
        <EmptyState
          icon={Server}
          title={t('admin.agents.empty')}
          text={t('admin.wizard.noAgents')}
          action={
            <Link href="/admin/agents" className={buttonClass({ variant: 'primary' })}>
              {t('admin.agents.create')}
            </Link>
          }
        />
      }
      columns={[
        {
          id: 'name',
          header: t('admin.agents.name'),
          isTitle: true,
          value: ({ Name }) => Name,
          cell: (agent) => (
            <span className="flex flex-wrap items-center gap-3">
              <input
                type="radio"
                name="agent"
                aria-label={agent.Name}
                checked={agent.ID === agentId}
                disabled={!isCapable(agent)}
                onChange={() => onChoose(agent.ID)}
                className="size-6 shrink-0 accent-accent"
              />
              <OnlineMark online={agent.Online} />
              {agent.Name}
              {isCapable(agent) ? null : (
                <Tooltip text={reason}>
                  {/* The reason must be in reach of the keyboard; the radio is disabled. */}
                  {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- carries the tooltip */}
                  <span tabIndex={0} className="rounded-full">
                    <Badge icon={Ban}>{t('admin.wizard.notCapable')}</Badge>
                  </span>
                </Tooltip>
              )}
            </span>
          ),
        },
        {
          id: 'os',
          header: t('admin.capability.os'),
          value: ({ Capabilities }) => findOsName(Capabilities),
          cell: ({ Capabilities }) => findOsName(Capabilities) ?? t('admin.unknown'),
        },
        {
          id: 'version',
          header: t('admin.agents.version'),
          value: ({ Version }) => Version,
          cell: ({ Version }) => <span className="tabular-nums">{Version ?? '–'}</span>,
        },
        {
          id: 'lastSeen',
          header: t('admin.agents.lastSeen'),
          value: ({ LastSeen }) => (LastSeen === null ? undefined : Date.parse(LastSeen)),
          cell: ({ LastSeen }) =>
            LastSeen === null ? t('admin.agents.awaiting') : <TimeAgo at={LastSeen} />,
        },
      ]}
    />
  )
}
