import type { i18n as I18n } from 'i18next'
import { ChevronDown } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { KnocRow } from '#server/knocs/knoc.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { Button, buttonClass } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Menu, type MenuAction } from '../../components/menu.tsx'
import { listOf } from '../../i18n/in-locale.ts'
import { isTextKey } from '../../i18n/start-i18n.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { Facts } from '../components/facts.tsx'
import { OnlineMark } from '../components/online-mark.tsx'
import { defaultAddresses, haproxyGuidance } from './haproxy-config.ts'
import { examplePort, guidance, portOf } from './ipset-rules.ts'
import { isPassivePlus } from './knoc-agents.ts'
import { KnocFirewalls } from './knoc-firewalls.tsx'
import { configOf } from './knoc-settings-form.ts'
import { findKnocType } from './knoc-types.ts'

type Props = {
  knoc: KnocRow | undefined
  onClose: () => void
  actionsOf: (knoc: KnocRow) => readonly MenuAction[]
}

/** One knoc: what it is, and how its enforcement point has to be set up. Console §2, §9 (768 px wide). */
export function KnocDetailDialog({ knoc, onClose, actionsOf }: Props) {
  const { t } = useTranslation()
  return (
    <Dialog
      open={knoc !== undefined}
      onClose={onClose}
      size="lg"
      title={knoc?.Name ?? ''}
      footer={
        <>
          {knoc ? (
            <Menu
              label={t('admin.actionsFor', { name: knoc.Name })}
              items={actionsOf(knoc)}
              buttonClassName={buttonClass({})}
              button={
                <>
                  {t('kit.actions')}
                  <ChevronDown aria-hidden="true" className="size-4" />
                </>
              }
            />
          ) : null}
          <Button variant="primary" onClick={onClose}>
            {t('admin.done')}
          </Button>
        </>
      }
    >
      {knoc ? <Body knoc={knoc} /> : null}
    </Dialog>
  )
}

function Body({ knoc }: { knoc: KnocRow }) {
  const { t, i18n } = useTranslation()
  return (
    <div className="flex flex-col gap-6 pb-3">
      <Facts
        facts={[
          {
            label: t('admin.knocs.type'),
            value: typeText(knoc, i18n),
          },
          {
            label: t('admin.knocs.agentName'),
            value: knoc.AgentName && (
              <span className="inline-flex items-center gap-2">
                <OnlineMark online={knoc.AgentOnline} />
                {knoc.AgentName}
              </span>
            ),
          },
          { label: t('admin.knocs.url'), value: knoc.URL || null },
          { label: t('admin.knocs.category'), value: knoc.Category },
          {
            label: t('admin.knocs.assigned'),
            value: t('admin.knocs.assignedTo', {
              users: t('admin.members.userCount', { count: knoc.UserCount }),
              groups: t('admin.members.groupCount', { count: knoc.GroupCount }),
            }),
          },
          {
            label: t('admin.knocs.now'),
            value: listOf(
              [
                t('admin.knocs.open', { count: knoc.OpenCount }),
                ...(knoc.UnsettledCount > 0
                  ? [t('admin.knocs.unsettled', { count: knoc.UnsettledCount })]
                  : []),
              ],
              i18n.language,
            ),
          },
        ]}
      />
      {isPassivePlus(knoc) ? <KnocFirewalls firewalls={knoc.Firewalls} /> : null}
      {knoc.BackendType === 'ipset' ? <IpsetGuide knoc={knoc} /> : null}
      {knoc.BackendType === 'haproxy' ? <HaproxyGuide knoc={knoc} /> : null}
    </div>
  )
}

/** What kind of knoc it is, in words; the type itself where there are none. */
function typeText(knoc: KnocRow, i18n: I18n): string {
  if (isPassivePlus(knoc)) return i18n.t('knocType.PASSIVE_PLUS')
  const type = findKnocType(knoc.BackendType)
  if (type) return i18n.t(`knocType.${type.key}`)
  const kind = `backend.${knoc.BackendType}`
  return isTextKey(i18n, kind) ? i18n.t(kind) : knoc.BackendType
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

function IpsetGuide({ knoc }: { knoc: KnocRow }) {
  const { t } = useTranslation()
  const config = configOf(knoc.AclConfig, 'ipset')
  const port = portOf(knoc.URL)
  const blocks = guidance({
    v4: textOf(config['V4SetName']),
    v6: textOf(config['V6SetName']),
    port: port ?? examplePort,
  })
  return (
    <section className="flex flex-col gap-4">
      <div>
        <h3 className="text-base font-bold text-ink">{t('guide.title')}</h3>
        <p className="mt-1 text-[0.9375rem] text-muted">{t('guide.lead')}</p>
      </div>
      {blocks.map(({ key, text }) => (
        <CodeBlock key={key} label={t(`guide.${key}`)} text={text} copyLabel={t('kit.copy')} />
      ))}
      {port === undefined ? <Banner title={t('guide.port', { port: examplePort })} /> : null}
      <p className="text-sm text-muted">{t('guide.order')}</p>
    </section>
  )
}

function HaproxyGuide({ knoc }: { knoc: KnocRow }) {
  const { t } = useTranslation()
  const id = configOf(knoc.AclConfig, 'haproxy')['ID']
  const address = textOf(configOf(knoc.BackendConfig, 'haproxy')['Address'])
  const blocks = haproxyGuidance({
    address: address ?? defaultAddresses.unix,
    id: typeof id === 'number' ? id : 0,
  })
  return (
    <section className="flex flex-col gap-4">
      <div>
        <h3 className="text-base font-bold text-ink">{t('guide.haproxy.title')}</h3>
        <p className="mt-1 text-[0.9375rem] text-muted">{t('guide.haproxy.lead')}</p>
      </div>
      {blocks.map(({ key, text }) => (
        <CodeBlock key={key} label={t(`guide.haproxy.${key}`)} text={text} copyLabel={t('kit.copy')} />
      ))}
      <p className="text-sm text-muted">{t('guide.haproxy.cut')}</p>
    </section>
  )
}
