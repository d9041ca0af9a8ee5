import type { BackendId } from '#server/backends/definitions/index.ts'
import type { KnocInput, KnocUpdateInput } from '#server/knocs/knoc.schema.ts'
import { type OptionsForm, toAclOptions } from './knoc-options-form.ts'
import type { SettingsForm } from './knoc-settings-form.ts'

/** Everything a wizard has gathered, each part checked by its own form. */
export type KnocDraft = {
  type: BackendId
  agentId: string
  settings: SettingsForm
  options: OptionsForm
  userIds: readonly string[]
  groupIds: readonly string[]
}

/** The body that creates a knoc. Spec README "Body of a knoc". */
export const toKnocInput = ({
  type,
  agentId,
  settings,
  options,
  userIds,
  groupIds,
}: KnocDraft): KnocInput => ({
  Backend: { AgentID: agentId, Config: { [type]: settings.Backend } },
  ACL: { ...toAclSettings(type, settings), ...toAclOptions(options) },
  UserIDs: [...userIds],
  GroupIDs: [...groupIds],
})

/** The part of a knoc that one tab of the update page writes. */
export type KnocChange =
  | { part: 'settings'; settings: SettingsForm }
  | { part: 'options'; options: OptionsForm }
  | { part: 'members'; userIds: readonly string[]; groupIds: readonly string[] }

/** The body that writes one tab's part; what it leaves out stays as it is. Spec README "Updates". */
export function toKnocUpdate(knoc: { ID: string; BackendType: string }, change: KnocChange): KnocUpdateInput {
  const { ID } = knoc
  if (change.part === 'members') return { ID, UserIDs: [...change.userIds], GroupIDs: [...change.groupIds] }
  if (change.part === 'options') return { ID, ACL: toAclOptions(change.options) }
  const type = knoc.BackendType as BackendId
  const { settings } = change
  return { ID, Backend: { Config: { [type]: settings.Backend } }, ACL: toAclSettings(type, settings) }
}

const toAclSettings = (type: BackendId, { Description, URL, Category, Icon, Acl }: SettingsForm) => ({
  Description,
  URL,
  Category,
  Icon,
  Config: { [type]: Acl },
})
