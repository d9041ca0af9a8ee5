import { useQuery } from '@tanstack/react-query'
import { BookOpen, Eye, ListChecks, Pencil, Plus, Server, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useLocation } from 'wouter'
import type { AgentRow } from '#server/agents/agent.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Button, LinkButton } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Menu } from '../../components/menu.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { deleteAgent } from '../admin-api.ts'
import { pollMs, queries, stale } from '../admin-queries.ts'
import { useAdminAction } from '../use-admin-action.ts'
import { agentColumns } from './agent-columns.tsx'
import { AgentNameDialog } from './agent-name-dialog.tsx'
import { AgentTokenDialog } from './agent-token-dialog.tsx'
import { announcedVersion } from './agent-version.ts'
import { CapabilitiesDialog } from './capabilities-dialog.tsx'
import { useVersionPolicy } from './use-version-policy.ts'

/** What is open above the table; agents by id, because the list is read again every 5 s. */
type Opened =
  | { dialog: 'create' | 'none' }
  | { dialog: 'edit' | 'view' | 'capabilities' | 'delete'; id: string }

/** Agents: which there are, what they can do, and how to install one. */
export function AgentsPage() {
  const { t, i18n } = useTranslation()
  const [, navigate] = useLocation()
  const agents = useQuery({ ...queries.agents, staleTime: 0, refetchInterval: pollMs.agents })
  const policy = useVersionPolicy()
  const [opened, setOpened] = useState<Opened>({ dialog: 'none' })
  const close = () => setOpened({ dialog: 'none' })
  const remove = useAdminAction({
    run: deleteAgent,
    stale: [stale.agents],
    done: 'admin.agents.deleted',
    onDone: close,
    onFailed: () => {},
  })
  const subject = 'id' in opened ? agents.data?.find(({ ID }) => ID === opened.id) : undefined
  const latest = policy && announcedVersion(agents.data ?? [], policy)

  /** The list is read again first: the new agent is found in it by its name. */
  const showCreated = async (name: string) => {
    const { data } = await agents.refetch()
    const created = data?.find((agent) => agent.Name === name)
    setOpened(created ? { dialog: 'view', id: created.ID } : { dialog: 'none' })
  }
  const menuOf = (agent: AgentRow) => (
    <Menu
      label={t('admin.actionsFor', { name: agent.Name })}
      items={[
        {
          label: t('admin.view'),
          icon: Eye,
          onSelect: () => setOpened({ dialog: 'view', id: agent.ID }),
        },
        {
          label: t('admin.agent.lists'),
          icon: ListChecks,
          onSelect: () => navigate(`/admin/agents/${agent.ID}`),
        },
        { label: t('admin.edit'), icon: Pencil, onSelect: () => setOpened({ dialog: 'edit', id: agent.ID }) },
        {
          label: t('admin.delete'),
          icon: Trash2,
          danger: true,
          onSelect: () => {
            remove.reset()
            setOpened({ dialog: 'delete', id: agent.ID })
          },
        },
      ]}
    />
  )
  const create = (
    <Button variant="primary" icon={Plus} onClick={() => setOpened({ dialog: 'create' })}>
      {t('admin.agents.create')}
    </Button>
  )

  return (
    <>
      <PageHeader
        title={t('admin.agents.title')}
        description={t('admin.agents.lead')}
        actions={
          <>
            <LinkButton href="/docs/agents" target="_blank" rel="noreferrer" variant="quiet" icon={BookOpen}>
              {t('admin.docs')}
            </LinkButton>
            {create}
          </>
        }
      />
      <DataTable
        label={t('admin.agents.title')}
        searchLabel={t('admin.agents.search')}
        toolbar={
          latest ? <Badge tone="neutral">{t('admin.agents.latest', { version: latest })}</Badge> : null
        }
        columns={agentColumns({
          t,
          i18n,
          policy,
          menuOf,
          onCapabilities: (id) => setOpened({ dialog: 'capabilities', id }),
        })}
        rows={agents.data}
        rowId={({ ID }) => ID}
        error={agents.error}
        onRetry={() => void agents.refetch()}
        initialSort={{ id: 'name', desc: false }}
        empty={
          <EmptyState
            icon={Server}
            title={t('admin.agents.empty')}
            text={t('admin.agents.emptyText')}
            action={create}
          />
        }
      />
      <AgentNameDialog
        agentId={opened.dialog === 'edit' ? opened.id : undefined}
        open={opened.dialog === 'create' || opened.dialog === 'edit'}
        onClose={close}
        onCreated={(name) => void showCreated(name)}
      />
      <AgentTokenDialog agentId={opened.dialog === 'view' ? opened.id : undefined} onClose={close} />
      <CapabilitiesDialog agent={opened.dialog === 'capabilities' ? subject : undefined} onClose={close} />
      <ConfirmDialog
        open={opened.dialog === 'delete' && subject !== undefined}
        onClose={close}
        onConfirm={() => 'id' in opened && remove.mutate(opened.id)}
        title={t('admin.agents.deleteTitle')}
        text={t('admin.agents.deleteText', { name: subject?.Name ?? '' })}
        confirmLabel={t('admin.delete')}
        danger
        busy={remove.isPending}
        error={remove.error}
      />
    </>
  )
}
