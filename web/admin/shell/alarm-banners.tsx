import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'wouter'
import type { Alarm } from '#server/alarms/alarm.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { alarmText } from './alarm-text.ts'

/** Doors and agents that somebody has to look at, red while a door may be open that should not be. They can't be put away. */
export function AlarmBanners({ alarms }: { alarms: readonly Alarm[] }) {
  const { t } = useTranslation()
  return alarms.map((alarm) => {
    const { title, body, count } = alarmText(alarm)
    const texts = { title: t(title, { count }), body: t(body, { count: alarm.Ended }) }
    return alarm.IsUrgent ? (
      <Banner key={alarm.Kind} tone="danger" title={texts.title}>
        {texts.body} <AgentLinks alarm={alarm} />
      </Banner>
    ) : (
      <output
        key={alarm.Kind}
        className="flex items-start gap-2 rounded-xl bg-warn-soft px-4 py-2 text-sm text-warn"
      >
        <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
        <span className="min-w-0">
          <strong>{texts.title}.</strong> {texts.body} <AgentLinks alarm={alarm} />
        </span>
      </output>
    )
  })
}

/** The agents by name, each leading to its page. */
function AgentLinks({ alarm: { Agents, AgentCount } }: { alarm: Alarm }): ReactNode {
  const { t } = useTranslation()
  if (Agents.length === 0) return null
  return (
    <span className="inline-flex flex-wrap gap-x-3 gap-y-1">
      {Agents.map(({ ID, Name }) => (
        <Link key={ID} href={`/admin/agents/${ID}`} className="link min-h-6 wrap-anywhere">
          {Name}
        </Link>
      ))}
      {AgentCount > Agents.length ? (
        <Link href="/admin/agents" className="link min-h-6">
          {t('alarm.moreAgents', { count: AgentCount - Agents.length })}
        </Link>
      ) : null}
    </span>
  )
}
