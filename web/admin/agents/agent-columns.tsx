import type { i18n, TFunction } from 'i18next'
import { Blocks, CircleAlert, Hourglass } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { AgentRow } from '#server/agents/agent.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import type { DataColumn } from '../../components/data-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import type { Tone } from '../../components/tone.ts'
import { Tooltip } from '../../components/tooltip.tsx'
import { listOf } from '../../i18n/in-locale.ts'
import { OnlineMark } from '../components/online-mark.tsx'
import { toAddressWithoutPort } from './agent-address.ts'
import { type VersionPolicy, type VersionStanding, versionStanding } from './agent-version.ts'
import { capabilityNames } from './capability-names.ts'

/** The agents table's columns. Console §2. */
export const agentColumns = ({
  t,
  i18n,
  policy,
  menuOf,
  onCapabilities,
}: {
  t: TFunction
  i18n: Pick<i18n, 'language'>
  policy: VersionPolicy | undefined
  menuOf: (agent: AgentRow) => ReactNode
  onCapabilities: (id: string) => void
}): DataColumn<AgentRow>[] => [
  {
    id: 'name',
    header: t('admin.agents.name'),
    isTitle: true,
    value: ({ Name }) => Name,
    cell: (agent) => <AgentName agent={agent} t={t} />,
  },
  {
    id: 'capabilities',
    header: t('admin.agents.capabilities'),
    value: ({ Capabilities }) => capabilityNames(Capabilities).join(' '),
    sortable: false,
    cell: ({ ID, Name, Capabilities }) => {
      if (Capabilities === null) return <span className="text-muted">–</span>
      const names = listOf(capabilityNames(Capabilities), i18n.language) || t('admin.agents.noCapabilities')
      return (
        <Button
          size="sm"
          variant="quiet"
          icon={Blocks}
          className="cards:-mr-3 cards:text-right cards:whitespace-normal rows:-ml-3"
          // Whoever speaks to the page says what stands there.
          aria-label={`${t('admin.agents.capabilitiesOf', { name: Name })}: ${names}`}
          onClick={() => onCapabilities(ID)}
        >
          {names}
        </Button>
      )
    },
  },
  {
    id: 'lastSeen',
    header: t('admin.agents.lastSeen'),
    value: ({ LastSeen }) => (LastSeen === null ? undefined : Date.parse(LastSeen)),
    cell: ({ LastSeen }) =>
      LastSeen === null ? (
        <span className="whitespace-nowrap text-muted italic">{t('admin.agents.awaiting')}</span>
      ) : (
        <span className="whitespace-nowrap">
          <TimeAgo at={LastSeen} />
        </span>
      ),
  },
  {
    id: 'version',
    header: t('admin.agents.version'),
    value: ({ Version }) => Version,
    cell: ({ Version }) => <VersionBadge version={Version} policy={policy} t={t} />,
  },
  {
    id: 'externalIp',
    header: t('admin.agents.externalIp'),
    value: ({ ExternalIP }) => ExternalIP && toAddressWithoutPort(ExternalIP),
    cell: ({ ExternalIP }) => (
      <span className="font-mono text-sm">{ExternalIP ? toAddressWithoutPort(ExternalIP) : '–'}</span>
    ),
  },
  { id: 'actions', header: t('kit.actions'), headerHidden: true, align: 'end', cell: menuOf },
]

function AgentName({ agent, t }: { agent: AgentRow; t: TFunction }) {
  return (
    <span className="flex flex-wrap items-center gap-2">
      <span className="inline-flex items-center gap-2 whitespace-nowrap">
        <OnlineMark online={agent.Online} />
        <Link
          href={`/admin/agents/${agent.ID}`}
          className="inline-flex min-h-6 items-center rounded hover:text-accent-ink hover:underline"
        >
          {agent.Name}
        </Link>
      </span>
      {agent.Conflict ? (
        <Tooltip text={t('admin.agents.conflictText')}>
          <Badge tone="danger" icon={CircleAlert}>
            {t('admin.agents.conflict')}
          </Badge>
        </Tooltip>
      ) : null}
      {agent.Debts > 0 ? (
        <Tooltip text={t('admin.agents.debtsText')}>
          <Badge tone="warn" icon={Hourglass}>
            {t('admin.agents.debts', { count: agent.Debts })}
          </Badge>
        </Tooltip>
      ) : null}
    </span>
  )
}

const standings: Record<
  VersionStanding,
  { tone: Tone; text: 'incompatible' | 'outOfDate' | 'upToDate' } | null
> = {
  incompatible: { tone: 'danger', text: 'incompatible' },
  outOfDate: { tone: 'warn', text: 'outOfDate' },
  upToDate: { tone: 'ok', text: 'upToDate' },
  unknown: null,
}

function VersionBadge({
  version,
  policy,
  t,
}: {
  version: string | null
  policy: VersionPolicy | undefined
  t: TFunction
}) {
  const standing = policy ? standings[versionStanding(version, policy)] : null
  if (version === null) return <span className="text-muted">–</span>
  return (
    <span className="flex items-center gap-2">
      <span className="tabular-nums">{version}</span>
      {standing ? (
        <Badge tone={standing.tone} className="whitespace-nowrap">
          {t(`admin.agents.${standing.text}`)}
        </Badge>
      ) : null}
    </span>
  )
}
