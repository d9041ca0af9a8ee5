import { ListChecks } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { AgentList } from '#server/agents/agent-list.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Tooltip } from '../../components/tooltip.tsx'
import { listOf } from '../../i18n/in-locale.ts'
import { isTextKey } from '../../i18n/start-i18n.ts'
import { listState } from './list-state.ts'

/** The lists an agent looks after: who uses each, what should stand there, what does, and whether a revoke cuts. */
export function AgentListsTable({
  lists,
  online,
  onForget,
}: {
  lists: readonly AgentList[]
  online: boolean
  onForget: (list: AgentList) => void
}) {
  const { t, i18n } = useTranslation()
  const number = (count: number) => new Intl.NumberFormat(i18n.language).format(count)
  const typeOf = (type: string) => {
    const key = `backend.${type}`
    return isTextKey(i18n, key) ? i18n.t(key) : type
  }
  return (
    <DataTable
      label={t('admin.agent.lists')}
      rows={lists}
      rowId={({ ID }) => ID}
      pageSize={10}
      initialSort={{ id: 'name', desc: false }}
      empty={
        <EmptyState icon={ListChecks} title={t('admin.agent.noLists')} text={t('admin.agent.noListsText')} />
      }
      columns={[
        {
          id: 'name',
          header: t('admin.agent.list'),
          isTitle: true,
          value: ({ Name }) => Name,
          cell: (list) => (
            <span className="flex min-w-0 flex-col rows:min-w-36">
              <span className="font-mono text-sm font-semibold wrap-anywhere text-ink">{list.Name}</span>
              <span className="text-xs font-normal text-muted">
                {[typeOf(list.Type), list.Family === null ? null : `IPv${list.Family}`]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </span>
          ),
        },
        {
          id: 'state',
          header: t('admin.agent.state'),
          cell: (list) => <State list={list} online={online} />,
        },
        {
          id: 'knocs',
          header: t('admin.agent.knocs'),
          cell: ({ Knocs }) =>
            Knocs.length === 0 ? (
              <Muted>–</Muted>
            ) : (
              <span className="break-words">
                {listOf(
                  Knocs.map(({ Name }) => Name),
                  i18n.language,
                )}
              </span>
            ),
        },
        {
          id: 'counts',
          header: t('admin.agent.counts'),
          cell: ({ Look, Refresh }) =>
            Refresh !== null ? (
              <Muted>{t('admin.agent.fetched')}</Muted>
            ) : Look === null ? (
              <Muted>–</Muted>
            ) : (
              <span className="tabular-nums">
                {t('admin.agent.countsText', {
                  desired: number(Look.Desired),
                  actual: number(Look.Actual),
                  foreign: number(Look.Foreign),
                })}
              </span>
            ),
        },
        {
          id: 'checked',
          header: t('admin.agent.checked'),
          cell: (list) => {
            const at = list.Refresh === null ? list.Look?.CheckedAt : list.Refresh.RefreshedAt
            if (!at) return <Muted>{t('admin.agent.neverChecked')}</Muted>
            return (
              <span className="whitespace-nowrap">
                <TimeAgo at={at} />
              </span>
            )
          },
        },
        {
          id: 'cut',
          header: t('admin.agent.cut'),
          cell: ({ Cut, Refresh }) =>
            Refresh !== null ? (
              <Muted>–</Muted>
            ) : Cut === null ? (
              <Muted>{t('admin.unknown')}</Muted>
            ) : (
              <Tooltip text={t(`admin.agent.cut.${Cut}.text`)}>
                <Badge tone={Cut === 'none' ? 'warn' : 'ok'}>{t(`admin.agent.cut.${Cut}`)}</Badge>
              </Tooltip>
            ),
        },
        {
          id: 'actions',
          header: t('kit.actions'),
          headerHidden: true,
          align: 'end',
          cell: (list) =>
            list.Draining ? (
              <Button
                size="sm"
                aria-label={t('admin.agent.forgetNamed', { name: list.Name })}
                onClick={() => onForget(list)}
              >
                {t('admin.agent.forget')}
              </Button>
            ) : null,
        },
      ]}
    />
  )
}

/** What is wrong in words, the agent's own error below it. */
function State({ list, online }: { list: AgentList; online: boolean }) {
  const { t } = useTranslation()
  const { text, tone } = listState(list, online)
  const error = list.Refresh === null ? list.Look?.Error : list.Refresh.Error
  return (
    <span className="flex min-w-0 flex-col items-start gap-1 cards:items-end">
      <span className="flex flex-wrap gap-1.5">
        <Badge tone={tone}>{t(`admin.agent.state.${text}`)}</Badge>
        {list.Draining ? (
          <Tooltip
            text={t(list.Refresh === null ? 'admin.agent.drainingText' : 'admin.agent.drainingToldText')}
          >
            <Badge tone="warn">{t('admin.agent.draining')}</Badge>
          </Tooltip>
        ) : null}
        {list.Debts > 0 ? <Badge tone="warn">{t('admin.agents.debts', { count: list.Debts })}</Badge> : null}
      </span>
      {error ? <span className="text-xs break-words text-danger">{error}</span> : null}
    </span>
  )
}

const Muted = ({ children }: { children: ReactNode }) => <span className="text-muted">{children}</span>
