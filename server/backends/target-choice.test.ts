import { describe, expect, it } from 'vitest'
import { chooseTarget, type OtherHolder, type StandingTarget, type TargetSettings } from './target-choice.ts'

const wanted: TargetSettings = {
  key: 'fortios:fw:root:g',
  type: 'fortios',
  agentId: 'agent-1',
  backendId: 'mine',
  family: null,
  expiry: 'agent',
  backendConfig: { Url: 'https://fw', Insecure: false },
  listConfig: { Name: 'g' },
  sealed: { 'backend.Bearer': 'new' },
}
const standing = (facts: Partial<StandingTarget> = {}): StandingTarget => ({
  ...wanted,
  id: 'target',
  isStale: false,
  ...facts,
})
const sibling: OtherHolder = { aclId: 'a2', backendId: 'mine', description: 'sibling' }
const stranger: OtherHolder = { aclId: 'a3', backendId: 'theirs', description: 'stranger' }
const everybody = ['a1', 'a2', 'a3']

describe('the list that stands already', () => {
  it.each<[string, Partial<StandingTarget>, OtherHolder[], string]>([
    ['is used when it is the same', {}, [stranger, sibling], 'use'],
    ['is used by whoever names it alike', { backendId: 'theirs' }, [stranger], 'use'],
    ['is replaced when its only user moves it', { agentId: 'agent-2' }, [], 'replace'],
    ['moves with its backend', { agentId: 'agent-2' }, [sibling], 'replace'],
    ['is refused while another agent manages it', { agentId: 'agent-2' }, [stranger], 'refuse'],
    ['is replaced with other settings of its own', { listConfig: { Name: 'h' } }, [], 'replace'],
    ['is refused when a sibling sets it otherwise', { listConfig: { Name: 'h' } }, [sibling], 'refuse'],
    [
      'is refused when a secret of it differs',
      { sealed: { ...wanted.sealed, 'list.X': 's' } },
      [sibling],
      'refuse',
    ],
    ['takes its backend’s new settings', { backendConfig: {} }, [sibling], 'replace'],
    ['is refused with a stranger’s other settings', { backendConfig: {} }, [stranger], 'refuse'],
    [
      'takes its backend’s new secrets, for strangers too',
      { sealed: { 'backend.Bearer': 'old' } },
      [stranger],
      'replace',
    ],
    [
      'keeps the secrets of another backend that work',
      { backendId: 'theirs', sealed: { 'backend.Bearer': 'theirs' } },
      [stranger],
      'use',
    ],
    [
      'gets ours when those of another backend work no more',
      { backendId: 'theirs', sealed: { 'backend.Bearer': 'theirs' }, isStale: true },
      [stranger],
      'replace',
    ],
  ])('%s', (_, facts, others, choice) => {
    expect(chooseTarget(wanted, standing(facts), { others, scope: everybody })).toBe(choice)
  })

  it('is not replaced under a holder whose rights are not locked', () => {
    const before = standing({ sealed: { 'backend.Bearer': 'old' } })
    expect(chooseTarget(wanted, before, { others: [stranger], scope: ['a1'] })).toBe('use')
  })
})
