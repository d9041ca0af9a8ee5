import type { ClientStatus, StatusEntry } from './status.schema.ts'

/** How an entry stands, in one word; `published` and `read` are the two ways a passive list is open. */
export type EntryState =
  | 'open'
  | 'published'
  | 'read'
  | 'restricted'
  | 'failed'
  | 'pending'
  | 'agentOffline'
  | 'closing'
  | 'closed'

/** Specification README "Statuses": the numbers of the wire. */
const statesByNumber: Readonly<Record<number, EntryState>> = {
  0: 'open',
  1: 'failed',
  2: 'pending',
  3: 'agentOffline',
  4: 'closed',
  5: 'read',
  6: 'published',
  8: 'closing',
  9: 'closed',
  10: 'failed',
}

const openStates: readonly EntryState[] = ['open', 'published', 'read']

/** Numbers at which `POST /grant` opens; at 3 it waits already, at the others it stands. */
const clickable: readonly number[] = [1, 4, 9, 10]

/** The number of an entry that was granted in this session and is over. */
const overNumber = 9

/** How an entry stands. A number of a newer server counts as pending: it is not known to be open. */
export function stateOf({ Status, DisableForUser }: StatusEntry): EntryState {
  const state = statesByNumber[Status] ?? 'pending'
  return DisableForUser && !openStates.includes(state) ? 'restricted' : state
}

/** Whether access is there: verified by the agent, or on the list that firewalls read. */
export const isOpen = (entry: StatusEntry): boolean => openStates.includes(stateOf(entry))

/** Whether a click is needed and would be taken now. */
export const needsClick = (entry: StatusEntry): boolean =>
  entry.ClickToGrant && stateOf(entry) !== 'restricted' && clickable.includes(entry.Status)

/** Whether an entry that opens by itself was open in this session and is over: only signing in opens it again. */
export const needsSignIn = (entry: StatusEntry): boolean =>
  !entry.ClickToGrant && stateOf(entry) === 'closed' && entry.Status === overNumber

/** What a run is about: the entries named, else those that open by themselves; and names that nothing has. */
export function chooseEntries(
  { ACLs }: Pick<ClientStatus, 'ACLs'>,
  names: readonly string[],
): { wanted: StatusEntry[]; missing: string[] } {
  if (names.length === 0) return { wanted: ACLs.filter((entry) => !entry.ClickToGrant), missing: [] }
  return {
    wanted: ACLs.filter((entry) => names.some((name) => isCalled(entry, name))),
    missing: names.filter((name) => !ACLs.some((entry) => isCalled(entry, name))),
  }
}

/** By its description, whatever its case, or by its id. */
const isCalled = ({ Description, ACLID }: StatusEntry, name: string): boolean =>
  [Description, ACLID].some((own) => own.toLowerCase() === name.trim().toLowerCase())
