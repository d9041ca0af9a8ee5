import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Capabilities } from '#machines/protocol.ts'
import type { AgentRow } from '#server/agents/agent.schema.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Facts } from '../components/facts.tsx'
import { findOsName } from '../knocs/knoc-review.ts'

/** What an agent reports that its host can enforce. Console §2. */
export function CapabilitiesDialog({ agent, onClose }: { agent: AgentRow | undefined; onClose: () => void }) {
  const { t } = useTranslation()
  const capabilities = agent?.Capabilities
  return (
    <Dialog
      open={agent !== undefined}
      onClose={onClose}
      title={t('admin.agents.capabilitiesOf', { name: agent?.Name ?? '' })}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('admin.done')}
        </Button>
      }
    >
      {capabilities ? (
        <div className="flex flex-col gap-6 pb-2">
          <Ipset ipset={capabilities.ipset} />
          <Section title={t('admin.capability.script')} isOn={capabilities.script.enabled}>
            {capabilities.script.commands.length > 0 ? (
              <ul className="flex flex-wrap gap-1.5">
                {capabilities.script.commands.map((command) => (
                  <li key={command} className="rounded-md bg-sunken px-2 py-1 font-mono text-xs text-ink">
                    {command}
                  </li>
                ))}
              </ul>
            ) : null}
          </Section>
          <Section title="HAProxy" isOn={capabilities.haproxy !== null}>
            {capabilities.haproxy ? (
              <code className="font-mono text-sm break-all text-ink">
                {capabilities.haproxy.socket_location}
              </code>
            ) : null}
          </Section>
          <section className="flex flex-col gap-2.5">
            <h3 className="font-semibold text-ink">{t('admin.capability.other')}</h3>
            <Facts
              facts={[
                { label: t('admin.capability.os'), value: findOsName(capabilities) ?? t('admin.unknown') },
                {
                  label: t('admin.capability.privilege'),
                  value: t(`admin.privilege.${capabilities.ipset.privilege}`),
                },
              ]}
            />
          </section>
        </div>
      ) : (
        <p className="pb-2 text-muted">{t('admin.agents.awaiting')}</p>
      )}
    </Dialog>
  )
}

function Section({ title, isOn, children }: { title: string; isOn: boolean; children: ReactNode }) {
  const { t } = useTranslation()
  return (
    <section className="flex flex-col gap-2">
      <h3 className="flex items-center gap-2.5 font-semibold text-ink">
        {title}
        <Badge tone={isOn ? 'ok' : 'neutral'}>{t(isOn ? 'admin.enabled' : 'admin.disabled')}</Badge>
      </h3>
      {children}
    </section>
  )
}

function Ipset({ ipset }: { ipset: Capabilities['ipset'] }) {
  const { t } = useTranslation()
  const isReady = ipset.command_available && ipset.sudo_enabled
  return (
    <Section title="ipset" isOn={isReady}>
      {isReady ? null : (
        <p className="text-sm text-danger">
          {t(ipset.command_available ? 'err.ipsetNoSudo' : 'err.ipsetNoCommand')}
        </p>
      )}
      {ipset.ipsets.length === 0 ? (
        <p className="text-[0.9375rem] text-muted">{t('admin.capability.noIpsets')}</p>
      ) : (
        <ul className="divide-y divide-line rounded-xl border border-line">
          {ipset.ipsets.map((set) => (
            <li key={set.name} className="flex flex-wrap items-center gap-2 px-3.5 py-2">
              <code className="font-mono text-sm font-semibold text-ink">{set.name}</code>
              <Badge>{set.address_family === 'inet' ? 'IPv4' : 'IPv6'}</Badge>
              {set.timeouts ? null : <Badge tone="danger">{t('admin.capability.noTimeouts')}</Badge>}
              {set.references === 0 ? (
                <Badge tone="warn">{t('admin.capability.noReferences')}</Badge>
              ) : (
                <span className="text-sm text-muted">
                  {t('admin.capability.references', { count: set.references })}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
