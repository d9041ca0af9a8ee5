import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useParams } from 'wouter'
import type { AgentList, AgentLists } from '#server/agents/agent-list.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { PageLoading } from '../../shell/page-loading.tsx'
import { pollMs, queries } from '../admin-queries.ts'
import { Facts } from '../components/facts.tsx'
import { AgentDebts } from './agent-debts.tsx'
import { AgentDriftTable } from './agent-drift-table.tsx'
import { AgentListsTable } from './agent-lists-table.tsx'
import { ForgetListDialog } from './forget-list-dialog.tsx'

/**
 * One agent: what it looks after, whether that stands as ordered, what was found there, and the doors that nobody has
 * seen closed yet. A deleted one has its page as long as it owes something.
 */
export function AgentPage() {
  const { t } = useTranslation()
  const errors = useErrorText()
  const { agentId } = useParams<{ agentId: string }>()
  const lists = useQuery({ ...queries.agentLists(agentId), refetchInterval: pollMs.agents })
  const [forgetting, setForgetting] = useState<AgentList>()
  const { data, error } = lists
  const header = (
    <PageHeader
      title={data?.Agent.Name ?? t('admin.agent.title')}
      back={{ href: '/admin/agents', label: t('admin.agents.title') }}
    />
  )
  if (data === undefined)
    return error ? (
      <>
        {header}
        <Banner
          tone="danger"
          title={errors.ofError(error)}
          action={
            <Button size="sm" onClick={() => void lists.refetch()}>
              {t('kit.retry')}
            </Button>
          }
        />
      </>
    ) : (
      <PageLoading />
    )
  return (
    <>
      {header}
      {data.Agent.Deleted ? (
        <Banner tone="warn" title={t('admin.agent.deleted')}>
          {t('admin.agent.deletedText')}
        </Banner>
      ) : null}
      <AgentFacts agent={data.Agent} lists={data.Lists} />
      <Section title={t('admin.agent.lists')}>
        <AgentListsTable lists={data.Lists} online={data.Agent.Online} onForget={setForgetting} />
      </Section>
      <Section title={t('admin.agent.debts')} text={t('admin.agent.debtsText')}>
        <AgentDebts agentId={agentId} />
      </Section>
      <Section title={t('admin.agent.drift')} text={t('admin.agent.driftText')}>
        <AgentDriftTable drift={data.Drift} />
      </Section>
      <ForgetListDialog agentId={agentId} list={forgetting} onClose={() => setForgetting(undefined)} />
    </>
  )
}

function AgentFacts({ agent, lists }: { agent: AgentLists['Agent']; lists: readonly AgentList[] }) {
  const { t, i18n } = useTranslation()
  const count = (of: (list: AgentList) => number) =>
    new Intl.NumberFormat(i18n.language).format(lists.reduce((sum, list) => sum + of(list), 0))
  return (
    <Card>
      <Facts
        facts={[
          {
            label: t('admin.agent.state'),
            value: (
              <span className="flex flex-wrap gap-2">
                <Badge tone={agent.Online ? 'ok' : 'warn'}>
                  {t(agent.Online ? 'admin.online' : 'admin.offline')}
                </Badge>
                {agent.Conflict ? <Badge tone="danger">{t('admin.agents.conflict')}</Badge> : null}
              </span>
            ),
          },
          {
            label: t('admin.agents.lastSeen'),
            value: agent.LastSeen === null ? t('admin.agents.awaiting') : <TimeAgo at={agent.LastSeen} />,
          },
          { label: t('admin.agents.version'), value: agent.Version ?? '–' },
          { label: t('admin.agent.open'), value: count(({ Open }) => Open) },
          { label: t('admin.agent.unseen'), value: count(({ Debts }) => Debts) },
        ]}
      />
    </Card>
  )
}

function Section({ title, text, children }: { title: string; text?: string; children: React.ReactNode }) {
  return (
    <section className="flex min-w-0 flex-col gap-4">
      <div>
        <h2 className="text-lg font-bold tracking-tight text-ink">{title}</h2>
        {text === undefined ? null : <p className="max-w-2xl text-[0.9375rem] text-muted">{text}</p>}
      </div>
      {children}
    </section>
  )
}
