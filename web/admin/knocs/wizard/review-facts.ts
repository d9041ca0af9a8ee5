import { useTranslation } from 'react-i18next'
import { definitions } from '#server/backends/definitions/index.ts'
import { definitionFields } from '../../../forms/definition-fields.ts'
import { listOf } from '../../../i18n/in-locale.ts'
import { isTextKey } from '../../../i18n/start-i18n.ts'
import type { Fact } from '../../components/facts.tsx'
import type { AclOptions } from '../knoc-options-form.ts'
import type { SettingsForm } from '../knoc-settings-form.ts'
import type { KnocType } from '../knoc-types.ts'
import { useIsDiscovering } from '../use-is-discovering.ts'

/** The settings as the review lists them, those of the kind by its definition. A secret is never shown. */
export function useSettingFacts(type: KnocType, entry: SettingsForm): Fact[] {
  const { t, i18n } = useTranslation()
  const { backend, acl } = definitions[type.backend]
  const parts = [
    { fields: definitionFields(backend), values: entry.Backend },
    { fields: definitionFields(acl), values: entry.Acl },
  ]
  return [
    { label: t('admin.settings.description'), value: entry.Description },
    { label: t('admin.settings.url'), value: entry.URL || '-' },
    { label: t('admin.settings.category'), value: entry.Category },
    ...parts.flatMap(({ fields, values }) =>
      fields.map(({ name, label, kind }) => {
        const text = toText(values[name])
        return {
          label: isTextKey(i18n, label) ? i18n.t(label) : name,
          value: kind === 'secret' ? t('field.recorded') : text || '-',
        }
      }),
    ),
  ]
}

/** The options as the review lists them. */
export function useOptionFacts(acl: AclOptions): Fact[] {
  const { t, i18n } = useTranslation()
  const isDiscovering = useIsDiscovering()
  const list = (things: readonly string[]) => listOf(things, i18n.language)
  const yesNo = (isOn: boolean) => t(isOn ? 'admin.yes' : 'admin.no')
  const { RestrictionType, RfcType, Ranges } = acl.IpExclusions
  const restriction =
    RestrictionType === 'RFC1918'
      ? `${t('admin.options.restriction.RFC1918')}: ${t(`admin.options.rfc.${RfcType}`)}`
      : t(`admin.options.restriction.${RestrictionType}`)
  const isListed = RestrictionType === 'allowList' || RestrictionType === 'denyList'
  return [
    { label: t('admin.options.ClickToGrant'), value: yesNo(acl.ClickToGrant) },
    {
      label: t('admin.options.GrantMinutes'),
      value:
        acl.MaximumGrantDuration === null
          ? '-'
          : new Intl.NumberFormat(i18n.language).format(acl.MaximumGrantDuration / 60),
    },
    {
      label: t('admin.options.GrantType'),
      value:
        acl.GrantType.Type === 'userIp'
          ? t('admin.options.userIp')
          : list(acl.GrantType.Ips.map(({ Ip }) => Ip)),
    },
    ...(isDiscovering && acl.GrantType.Type === 'userIp'
      ? [{ label: t('admin.options.CGNATOpen'), value: yesNo(acl.CGNATOpen) }]
      : []),
    {
      label: t('admin.options.RestrictionType'),
      value: isListed
        ? `${restriction}: ${list(Ranges.map(({ Start, End }) => `${Start} – ${End}`)) || '-'}`
        : restriction,
    },
    { label: t('admin.options.CutConnections'), value: yesNo(acl.CutConnections) },
    {
      label: t('admin.options.WhenServerSilent'),
      value:
        acl.WhenServerSilent === null
          ? t('admin.options.silent.keep')
          : t('admin.options.silentAfter', { seconds: acl.WhenServerSilent }),
    },
    {
      label: t('admin.options.ForeignEntries'),
      value: t(`admin.options.foreign.${acl.ForeignEntries}`),
    },
    { label: t('admin.options.HideFromUsers'), value: yesNo(acl.HideFromUsers) },
    { label: t('admin.options.AutoBrowseUsers'), value: yesNo(acl.AutoBrowseUsers) },
  ]
}

const toText = (value: unknown): string => {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
