import type { TFunction } from 'i18next'
import { Eye, EyeOff, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { KnocRow } from '#server/knocs/knoc.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import type { DataColumn } from '../../components/data-table.tsx'
import { iconByName } from '../../components/icons.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Tooltip } from '../../components/tooltip.tsx'
import { OnlineMark } from '../components/online-mark.tsx'
import { agentsOf, isPassivePlus, type KnocAgent } from './knoc-agents.ts'

/** The knocs table's columns. Console §2. */
export const knocColumns = ({
  t,
  twice,
  menuOf,
  onView,
}: {
  t: TFunction
  twice: ReadonlySet<string>
  menuOf: (knoc: KnocRow) => ReactNode
  onView: (knoc: KnocRow) => void
}): DataColumn<KnocRow>[] => [
  {
    id: 'name',
    header: t('admin.knocs.name'),
    isTitle: true,
    value: ({ Name }) => Name,
    cell: (knoc) => <KnocName knoc={knoc} isTwice={twice.has(knoc.Name)} t={t} />,
  },
  {
    id: 'users',
    header: t('admin.knocs.userCount'),
    value: ({ UserCount }) => UserCount,
    cell: ({ UserCount }) => <span className="tabular-nums">{UserCount}</span>,
  },
  {
    id: 'agent',
    header: t('admin.knocs.agentName'),
    value: (knoc) => agentsOf(knoc)[0]?.name ?? null,
    cell: (knoc) => <KnocAgents agents={agentsOf(knoc)} />,
  },
  {
    id: 'modified',
    header: t('admin.knocs.lastModified'),
    value: ({ LastModifiedAt }) => Date.parse(LastModifiedAt),
    cell: ({ LastModifiedAt, LastModifiedBy }) => (
      <span className="whitespace-nowrap cards:text-right">
        <TimeAgo at={LastModifiedAt} />
        {LastModifiedBy ? <span className="block text-sm text-muted">{LastModifiedBy}</span> : null}
      </span>
    ),
  },
  {
    id: 'details',
    header: t('admin.knocs.details'),
    cell: (knoc) => (
      <span className="flex items-center gap-2 cards:-mr-3 cards:flex-wrap cards:justify-end">
        <Button
          size="sm"
          variant="quiet"
          icon={Eye}
          className="rows:-ml-3"
          aria-label={`${t('admin.view')}: ${t('admin.knocs.detailsOf', { name: knoc.Name })}`}
          onClick={(event) => {
            event.stopPropagation()
            onView(knoc)
          }}
        >
          {t('admin.view')}
        </Button>
        <span className="flex flex-col items-start gap-1 cards:order-first cards:items-end">
          {knoc.OpenCount > 0 ? (
            <Badge tone="ok" className="whitespace-nowrap">
              {t('admin.knocs.open', { count: knoc.OpenCount })}
            </Badge>
          ) : null}
          {knoc.UnsettledCount > 0 ? (
            <Badge tone="warn" className="whitespace-nowrap">
              {t('admin.knocs.unsettled', { count: knoc.UnsettledCount })}
            </Badge>
          ) : null}
        </span>
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
    cell: (knoc) => <div onClick={(event) => event.stopPropagation()}>{menuOf(knoc)}</div>,
  },
]

function KnocAgents({ agents }: { agents: readonly KnocAgent[] }) {
  if (agents.length === 0) return <span className="text-muted">–</span>
  return (
    <span className="flex flex-col gap-1 cards:items-end">
      {agents.map(({ id, name, online }) => (
        <span key={id} className="inline-flex items-center gap-2 whitespace-nowrap">
          <OnlineMark online={online} />
          {name}
        </span>
      ))}
    </span>
  )
}

function KnocName({ knoc, isTwice, t }: { knoc: KnocRow; isTwice: boolean; t: TFunction }) {
  const Icon = iconByName(knoc.Icon)
  return (
    <span className="flex min-w-0 items-center gap-3">
      <span className="flex size-9 shrink-0 items-center justify-center rounded-lg bg-accent-soft text-accent-ink">
        <Icon aria-hidden="true" className="size-[1.15rem]" />
      </span>
      <span className="min-w-0">
        <span className="flex flex-wrap items-center gap-2">
          {knoc.Name}
          {isPassivePlus(knoc) ? (
            <Tooltip text={t('admin.knocs.passivePlusText')}>
              <Badge>{t('admin.knocs.passivePlus')}</Badge>
            </Tooltip>
          ) : null}
          {knoc.HideFromUsers ? <Badge icon={EyeOff}>{t('admin.knocs.hidden')}</Badge> : null}
          {isTwice ? (
            <Tooltip text={t('admin.knocs.twiceText')}>
              <Badge tone="warn" icon={TriangleAlert}>
                {t('admin.knocs.twice')}
              </Badge>
            </Tooltip>
          ) : null}
        </span>
        {knoc.URL ? (
          <span className="block max-w-72 truncate text-sm font-normal text-muted">{knoc.URL}</span>
        ) : null}
      </span>
    </span>
  )
}
