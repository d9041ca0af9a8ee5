import { useQuery } from '@tanstack/react-query'
import { KeyRound, PlugZap } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { AgentDetail } from '#server/agents/agent.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Spinner } from '../../components/spinner.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useNow } from '../../components/use-now.ts'
import { useErrorText } from '../../i18n/use-error-text.ts'
import { renewAgentToken } from '../admin-api.ts'
import { pollMs, queries, stale } from '../admin-queries.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { Instant } from '../components/instant.tsx'
import { useAdminAction } from '../use-admin-action.ts'
import { tokenState } from './token-state.ts'

/**
 * How to install an agent: its command and its token, which is good once. Watches for the first connection.
 *
 * Afterwards: since when it is in use, and a new token for a host that was built anew. Spec README "Agent token".
 */
export function AgentTokenDialog({ agentId, onClose }: { agentId: string | undefined; onClose: () => void }) {
  const { t } = useTranslation()
  const errors = useErrorText()
  const [isRenewing, setIsRenewing] = useState(false)
  const agent = useQuery({
    ...queries.agent(agentId ?? ''),
    enabled: agentId !== undefined,
    refetchInterval: pollMs.token,
  })
  const renew = useAdminAction({
    run: renewAgentToken,
    stale: [stale.agents],
    done: 'admin.agents.tokenRenewed',
    onDone: () => setIsRenewing(false),
    onFailed: () => {},
  })
  const detail = agent.data?.data
  const titleOf = (found: AgentDetail | undefined) => {
    if (found === undefined) return t('kit.loading')
    return found.EnrolledAt === null ? t('admin.agents.tokenTitle', { name: found.Name }) : found.Name
  }
  return (
    <>
      <Dialog
        open={agentId !== undefined && !isRenewing}
        onClose={onClose}
        size="lg"
        title={titleOf(detail)}
        footer={
          <>
            <Button
              icon={KeyRound}
              onClick={() => {
                renew.reset()
                setIsRenewing(true)
              }}
            >
              {t('admin.agents.newToken')}
            </Button>
            <Button variant="primary" onClick={onClose}>
              {t('admin.done')}
            </Button>
          </>
        }
      >
        {detail ? (
          <TokenBody agent={detail} />
        ) : agent.error ? (
          <Banner tone="danger" title={errors.ofError(agent.error)} />
        ) : (
          <Skeleton className="h-40" />
        )}
      </Dialog>
      <ConfirmDialog
        open={agentId !== undefined && isRenewing}
        onClose={() => setIsRenewing(false)}
        onConfirm={() => agentId !== undefined && renew.mutate(agentId)}
        title={t('admin.agents.newTokenTitle')}
        text={t(detail?.EnrolledAt ? 'admin.agents.newTokenTextEnrolled' : 'admin.agents.newTokenText')}
        confirmLabel={t('admin.agents.newToken')}
        busy={renew.isPending}
        error={renew.error}
      />
    </>
  )
}

function TokenBody({ agent }: { agent: AgentDetail }) {
  const { t } = useTranslation()
  const state = tokenState(agent, useNow(30_000))
  return (
    <div className="flex flex-col gap-5 pb-2">
      {agent.EnrolledAt ? (
        <Banner tone={agent.Online ? 'ok' : 'neutral'} title={t('admin.agents.inUse')}>
          <Instant at={agent.EnrolledAt} />
        </Banner>
      ) : null}
      {state === 'good' ? (
        <>
          {agent.EnrolledAt ? null : (
            <p className="flex items-center gap-2.5 text-[0.9375rem] text-muted">
              <Spinner className="size-4 text-accent-ink" />
              {t('admin.agents.waiting')}
            </p>
          )}
          <CodeBlock
            label={t('admin.agents.install')}
            text={agent.InstallCommand}
            copyLabel={t('admin.agents.copyInstall')}
          />
          <CodeBlock
            label={t('admin.agents.token')}
            text={agent.Token}
            copyLabel={t('admin.agents.copyToken')}
          />
          <p className="text-sm text-muted">
            {t('admin.agents.tokenOnce')}{' '}
            {agent.TokenExpires ? (
              <>
                {t('admin.agents.tokenEnds')} <TimeAgo at={agent.TokenExpires} />.
              </>
            ) : null}
          </p>
        </>
      ) : null}
      {state === 'used' ? (
        <p className="flex items-start gap-2.5 text-[0.9375rem] text-muted">
          <PlugZap aria-hidden="true" className="mt-0.5 size-5 shrink-0" />
          {t('admin.agents.tokenUsed')}
        </p>
      ) : null}
      {state === 'expired' ? <Banner tone="warn" title={t('admin.agents.tokenExpired')} /> : null}
    </div>
  )
}
