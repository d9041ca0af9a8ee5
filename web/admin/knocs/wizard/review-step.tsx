import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { AgentRow } from '#server/agents/agent.schema.ts'
import type { GroupRow } from '#server/groups/group.schema.ts'
import { Banner } from '../../../components/banner.tsx'
import { Card } from '../../../components/card.tsx'
import { DataTable } from '../../../components/data-table.tsx'
import { queries } from '../../admin-queries.ts'
import { Facts } from '../../components/facts.tsx'
import type { OptionsFormApi } from '../knoc-options-fields.tsx'
import { optionsFormSchema, toAclOptions } from '../knoc-options-form.ts'
import { KnocPreview } from '../knoc-preview.tsx'
import { findOsName, reviewNotices } from '../knoc-review.ts'
import type { SettingsFormApi } from '../knoc-settings-fields.tsx'
import { settingsFormSchema } from '../knoc-settings-form.ts'
import type { KnocType } from '../knoc-types.ts'
import { chosenGroups, chosenUsers, type Members } from '../members.ts'
import { useOptionFacts, useSettingFacts } from './review-facts.ts'

type Props = {
  type: KnocType
  agent: AgentRow | undefined
  settings: SettingsFormApi
  options: OptionsFormApi
  members: Members
}

/** Everything once more before Submit, with what should be known. Console §2. */
export function ReviewStep({ type, agent, settings, options, members }: Props) {
  const { t, i18n } = useTranslation()
  const groups = useQuery(queries.groups).data ?? []
  const entry = settingsFormSchema(type.backend).parse(settings.getValues())
  const acl = toAclOptions(optionsFormSchema.parse(options.getValues()))
  const notices = reviewNotices({ acl: entry.Acl, capabilities: agent?.Capabilities ?? null, options: acl })
  const { saml, local } = chosenGroups(members, groups)
  const users = chosenUsers(members, i18n.language)
  const settingFacts = useSettingFacts(type, entry)
  const optionFacts = useOptionFacts(acl)
  return (
    <div className="flex flex-col gap-6">
      {notices.length > 0 ? (
        <div className="flex flex-col gap-3">
          {notices.map(({ tone, text, values }) => (
            <Banner
              key={`${text} ${values.name ?? ''}`}
              tone={tone === 'warning' ? 'warn' : 'neutral'}
              title={t(`review.${text}`, { name: values.name ?? '' })}
            >
              {t(`review.${text}.text`, { name: values.name ?? '' })}
            </Banner>
          ))}
        </div>
      ) : null}
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex flex-col gap-6">
          <Section title={t('admin.step.agent')}>
            <Facts
              facts={[
                { label: t('admin.agents.name'), value: agent?.Name ?? t('admin.unknown') },
                {
                  label: t('admin.capability.os'),
                  value: findOsName(agent?.Capabilities ?? null) ?? t('admin.unknown'),
                },
              ]}
            />
          </Section>
          <Section title={t('admin.step.settings')}>
            <Facts facts={settingFacts} />
          </Section>
          <Section title={t('admin.step.options')}>
            <Facts facts={optionFacts} />
          </Section>
        </div>
        <KnocPreview
          description={entry.Description}
          url={entry.URL}
          category={entry.Category}
          icon={entry.Icon}
        />
      </div>
      <section className="flex flex-col gap-5">
        <h2 className="text-lg font-bold tracking-tight text-ink">{t('admin.step.assignments')}</h2>
        <Members label={t('admin.members.users')}>
          <DataTable
            label={t('admin.members.users')}
            rows={users}
            rowId={({ ID }) => ID}
            pageSize={10}
            empty={<p className="py-3 text-center text-muted">{t('admin.members.noneChosen')}</p>}
            columns={[
              { id: 'name', header: t('admin.users.name'), isTitle: true, cell: ({ Name }) => Name },
              { id: 'company', header: t('admin.users.company'), cell: ({ Company }) => Company || '-' },
              { id: 'userName', header: t('admin.users.userName'), cell: ({ UserName }) => UserName },
            ]}
          />
        </Members>
        {saml.length > 0 ? (
          <Members label={t('admin.members.samlGroups')}>
            <GroupTable label={t('admin.members.samlGroups')} groups={saml} />
          </Members>
        ) : null}
        <Members label={t('admin.members.localGroups')}>
          <GroupTable label={t('admin.members.localGroups')} groups={local} />
        </Members>
      </section>
    </div>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card className="flex flex-col gap-4">
      <h2 className="text-lg font-bold tracking-tight text-ink">{title}</h2>
      {children}
    </Card>
  )
}

function Members({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold text-muted">{label}</h3>
      {children}
    </div>
  )
}

function GroupTable({ label, groups }: { label: string; groups: readonly GroupRow[] }) {
  const { t } = useTranslation()
  return (
    <DataTable
      label={label}
      rows={groups}
      rowId={({ ID }) => ID}
      pageSize={10}
      empty={<p className="py-3 text-center text-muted">{t('admin.members.noGroupsChosen')}</p>}
      columns={[
        { id: 'name', header: t('admin.groups.name'), isTitle: true, cell: ({ Name }) => Name },
        {
          id: 'description',
          header: t('admin.groups.description'),
          cell: ({ Description }) => Description || '-',
        },
        { id: 'users', header: t('admin.groups.userCount'), cell: ({ UserCount }) => UserCount },
      ]}
    />
  )
}
