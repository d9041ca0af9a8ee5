import type { Capabilities } from '#machines/protocol.ts'
import type { AclOptions } from './knoc-options-form.ts'

/** Something the review points out before Submit. `text` is a translation key below `review.`. */
export type ReviewNotice = {
  tone: 'warning' | 'info'
  text:
    | 'missingV4Set'
    | 'missingV6Set'
    | 'wrongFamily'
    | 'noTimeouts'
    | 'noReferences'
    | 'cutsNothing'
    | 'removesForeign'
    | 'autoBrowse'
    | 'hidden'
  values: { name?: string }
}

type Ipset = Capabilities['ipset']['ipsets'][number]

/**
 * What an administrator should know before a Linux knoc is made: sets that the agent has not got (they must be
 * created by hand), sets that can't do their job, and options with consequences. Console §2.
 */
export function reviewNotices(knoc: {
  acl: Record<string, unknown>
  capabilities: Capabilities | null
  options: Pick<AclOptions, 'AutoBrowseUsers' | 'HideFromUsers' | 'CutConnections' | 'ForeignEntries'>
}): ReviewNotice[] {
  const sets = knoc.capabilities?.ipset.ipsets ?? []
  return [
    ...setNotices(sets, { name: knoc.acl['V4SetName'], family: 'inet', missing: 'missingV4Set' }),
    ...setNotices(sets, { name: knoc.acl['V6SetName'], family: 'inet6', missing: 'missingV6Set' }),
    ...(knoc.options.CutConnections ? cutNotices(sets, knoc.acl) : []),
    ...(knoc.options.ForeignEntries === 'remove'
      ? [{ tone: 'warning', text: 'removesForeign', values: {} } as const]
      : []),
    ...(knoc.options.AutoBrowseUsers ? [{ tone: 'warning', text: 'autoBrowse', values: {} } as const] : []),
    ...(knoc.options.HideFromUsers ? [{ tone: 'info', text: 'hidden', values: {} } as const] : []),
  ]
}

/** Sets of which the agent says that nothing there ends a connection that is open. */
const cutNotices = (sets: readonly Ipset[], acl: Record<string, unknown>): ReviewNotice[] =>
  [acl['V4SetName'], acl['V6SetName']].flatMap((wanted) => {
    const set = sets.find(({ name }) => name === wanted)
    return set?.cut === 'none'
      ? [{ tone: 'warning' as const, text: 'cutsNothing' as const, values: { name: set.name } }]
      : []
  })

function setNotices(
  sets: readonly Ipset[],
  wanted: { name: unknown; family: Ipset['address_family']; missing: 'missingV4Set' | 'missingV6Set' },
): ReviewNotice[] {
  if (typeof wanted.name !== 'string' || wanted.name === '') return []
  const values = { name: wanted.name }
  const set = sets.find(({ name }) => name === wanted.name)
  if (set === undefined) return [{ tone: 'warning', text: wanted.missing, values }]
  const faults = [
    [set.address_family !== wanted.family, 'wrongFamily'],
    [!set.timeouts, 'noTimeouts'],
    [set.references === 0, 'noReferences'],
  ] as const
  return faults.flatMap(([isFault, text]) => (isFault ? { tone: 'warning' as const, text, values } : []))
}

/** An agent's operating system as the review shows it; undefined reads 'Unknown'. */
export function findOsName(capabilities: Capabilities | null): string | undefined {
  const os = capabilities?.['os-release']
  const text = os ? `${os.NAME} ${os.VERSION}`.trim() : ''
  return text === '' ? undefined : text
}

/** What an agent reports that settings may name, for the form's suggestions. */
export const setSuggestions = (capabilities: Capabilities | null): Record<string, readonly string[]> => {
  const sets = capabilities?.ipset.ipsets ?? []
  const namesOf = (family: Ipset['address_family']) =>
    sets.filter(({ address_family }) => address_family === family).map(({ name }) => name)
  const socket = capabilities?.haproxy?.socket_location
  return {
    V4SetName: namesOf('inet'),
    V6SetName: namesOf('inet6'),
    ...(socket === undefined ? {} : { Address: [socket] }),
  }
}
