import { useTranslation } from 'react-i18next'
import type { KnocFirewall } from '#server/knocs/knoc.schema.ts'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Facts } from '../components/facts.tsx'
import { OnlineMark } from '../components/online-mark.tsx'

/** The firewalls of a Passive+ knoc: which list of theirs it is, who tells them, and how that went. */
export function KnocFirewalls({ firewalls }: { firewalls: readonly KnocFirewall[] }) {
  const { t } = useTranslation()
  return (
    <section className="flex flex-col gap-4">
      <div>
        <h3 className="text-base font-bold text-ink">{t('admin.knocs.firewalls')}</h3>
        <p className="mt-1 text-[0.9375rem] text-muted">{t('admin.knocs.passivePlusText')}</p>
      </div>
      {firewalls.map((firewall) => (
        <Facts
          key={firewall.ACLID}
          facts={[
            { label: t('admin.knocs.firewall'), value: firewall.Hostname },
            { label: t('admin.knocs.edlName'), value: firewall.EDLName },
            {
              label: t('admin.knocs.agentName'),
              value: (
                <span className="inline-flex items-center gap-2">
                  <OnlineMark online={firewall.AgentOnline} />
                  {firewall.AgentName}
                </span>
              ),
            },
            { label: t('admin.knocs.told'), value: <Told refresh={firewall.Refresh} /> },
          ]}
        />
      ))}
    </section>
  )
}

function Told({ refresh }: { refresh: KnocFirewall['Refresh'] }) {
  const { t } = useTranslation()
  return (
    <span className="flex flex-col gap-1">
      {refresh?.RefreshedAt ? (
        <span>
          <TimeAgo at={refresh.RefreshedAt} />
        </span>
      ) : (
        <span className="text-muted">{t('admin.knocs.notTold')}</span>
      )}
      {refresh?.Error ? (
        <span className="break-words text-danger">
          {t('admin.knocs.tellingFails', { text: refresh.Error })}
        </span>
      ) : null}
    </span>
  )
}
