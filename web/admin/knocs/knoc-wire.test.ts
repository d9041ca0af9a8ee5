import { describe, expect, it } from 'vitest'
import { knocSchema, knocUpdateSchema } from '#server/knocs/knoc.schema.ts'
import { optionsFormSchema, toAclOptions, toOptionsValues } from './knoc-options-form.ts'
import { settingsFormSchema, toSettingsValues } from './knoc-settings-form.ts'
import { toKnocInput, toKnocUpdate } from './knoc-wire.ts'

const [agentId, userId, groupId, knocId] = [1, 2, 3, 4].map(
  (n) => `00000000-0000-4000-8000-00000000000${n}`,
) as [string, string, string, string]

const typed = {
  ...toSettingsValues('ipset'),
  Description: '  Bastion  ',
  URL: 'ssh://bastion',
  Acl: { V4SetName: 'knoc_ssh', V6SetName: '' },
}
const settings = settingsFormSchema('ipset').parse(typed)
const options = optionsFormSchema.parse({ ...toOptionsValues(), ClickToGrant: true, GrantMinutes: '60' })

describe('what the wizard sends', () => {
  const body = toKnocInput({
    type: 'ipset',
    agentId,
    settings,
    options,
    userIds: [userId],
    groupIds: [groupId],
  })

  it('is what the server takes', () => {
    expect(knocSchema.safeParse(body).error).toBeUndefined()
  })

  it('is the whole knoc', () => {
    expect(body).toMatchObject({
      Backend: { AgentID: agentId, Config: { ipset: {} } },
      ACL: {
        Description: 'Bastion',
        URL: 'ssh://bastion',
        Category: 'Default',
        Icon: 'server',
        ClickToGrant: true,
        MaximumGrantDuration: 3600,
        Config: { ipset: { V4SetName: 'knoc_ssh' } },
      },
      UserIDs: [userId],
      GroupIDs: [groupId],
    })
  })

  it('asks for a description and at least one set', () => {
    const faults = settingsFormSchema('ipset').safeParse(toSettingsValues('ipset')).error?.issues
    expect(faults?.map(({ path }) => path.join('.'))).toEqual(['Description', 'Acl.V4SetName'])
  })
})

describe('what a tab of the update page sends', () => {
  const knoc = { ID: knocId, BackendType: 'ipset' }

  it.each([
    [
      { part: 'settings', settings },
      {
        Backend: { Config: { ipset: {} } },
        ACL: {
          Description: 'Bastion',
          URL: 'ssh://bastion',
          Category: 'Default',
          Icon: 'server',
          Config: { ipset: { V4SetName: 'knoc_ssh' } },
        },
      },
    ],
    [{ part: 'options', options }, { ACL: toAclOptions(options) }],
    [
      { part: 'members', userIds: [userId], groupIds: [] },
      { UserIDs: [userId], GroupIDs: [] },
    ],
  ] as const)('is its own part and nothing else (%#)', (change, part) => {
    const body = toKnocUpdate(knoc, change)
    expect(knocUpdateSchema.safeParse(body).error).toBeUndefined()
    expect(body).toEqual({ ID: knocId, ...part })
  })
})
