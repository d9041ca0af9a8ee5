/** Everything `knoc validate` tells apart, the worst first. */
export const differenceKinds = {
  leftOpen: {
    label: 'LEFT OPEN',
    means: 'on the list, though it was ordered closed',
    next: 'The agent tries again for ever; its page in the console and `knoc-agent doctor` on its host say why it fails.',
  },
  tooLong: {
    label: 'TOO LONG',
    means: 'on the list past its end, or with a later end than it has',
    next: 'Compare the clock of the agent’s host with the database’s, and look for others who write to this list.',
  },
  ungranted: {
    label: 'UNGRANTED',
    means: 'ordered open, though nobody who is signed in may go through',
    next: 'The auditor repairs this within 10 s while a server runs; if it stays, read the server’s log.',
  },
  deadGrant: {
    label: 'DEAD GRANT',
    means: 'a grant still stands, though its right has gone',
    next: 'The auditor ends it within 10 s while a server runs; if it stays, read the server’s log.',
  },
  overdue: {
    label: 'OVERDUE',
    means: 'ordered open past its end: no server closed it',
    next: 'Start a server, or read the log of the one that runs.',
  },
  noServer: {
    label: 'NO SERVER',
    means: 'no server is running: nobody can ask the agents',
    next: 'Start one with `npm start`, and validate again.',
  },
  agentAway: {
    label: 'AWAY',
    means: 'the agent is away: what stands there can’t be seen',
    next: 'Bring the agent’s host or its way to the server back; lists with ends of their own close by themselves.',
  },
  noAnswer: {
    label: 'NO ANSWER',
    means: 'the agent is linked but didn’t answer in time',
    next: 'Validate again with a longer --timeout, and read the agent’s log.',
  },
  agentTooOld: {
    label: 'TOO OLD',
    means: 'this version of the agent can’t tell what stands on its lists',
    next: 'Update the agent; it works on meanwhile.',
  },
  listFailed: {
    label: 'UNREADABLE',
    means: 'the list could not be read on the agent’s host',
    next: 'Run `knoc-agent doctor` on that host.',
  },
  missing: {
    label: 'MISSING',
    means: 'ordered open, but not on the list',
    next: 'The agent puts back what others removed within about 5 s; if it stays, the entry’s error says why.',
  },
  tooShort: {
    label: 'TOO SHORT',
    means: 'on the list with an earlier end than was ordered',
    next: 'The agent writes the right end within about 5 s; if not, compare the clock of its host with the database’s.',
  },
  unordered: {
    label: 'UNORDERED',
    means: 'somebody may go through, but the entry isn’t ordered open',
    next: 'The auditor repairs this within 10 s while a server runs; if it stays, read the server’s log.',
  },
  unsettled: {
    label: 'UNSETTLED',
    means: 'the agent hasn’t answered the newest order',
    next: 'Validate again; if it stays, read the agent’s log.',
  },
  unlistable: {
    label: 'UNSEEN',
    means: 'nobody can look into this list: what the agent reported is all there is to compare',
    next: 'Look on the device itself, or accept what was reported with --accept-reported.',
  },
  foreign: {
    label: 'FOREIGN',
    means: 'on the list, but never ordered by Knoc',
    next: 'If an administrator put it there on purpose, use --ignore-foreign; else remove it on the host.',
  },
} as const satisfies Record<string, { label: string; means: string; next: string }>

export type DifferenceKind = keyof typeof differenceKinds

/** One thing that is not as it should be, or can't be seen to be. */
export type Difference = {
  kind: DifferenceKind
  agent: string | null
  /** The list's key without its agent: `ipset:allowed_ssh`. */
  list: string | null
  targetId: string | null
  address: string | null
  /** Who opened it last. */
  userName: string | null
  /** Names of the knocs that use the list. */
  knocs: string | null
  /** ISO instant; null where nobody knows. */
  since: string | null
  /** Of the newest order; null for what was never ordered. */
  generation: number | null
  /** What was seen, in plain words. */
  detail: string
}

/** Where one difference is; the rest of it is unknown or means nothing. */
export const differ = (
  kind: DifferenceKind,
  known: Partial<Omit<Difference, 'kind'>> & { detail: string },
): Difference => ({
  kind,
  agent: null,
  list: null,
  targetId: null,
  address: null,
  userName: null,
  knocs: null,
  since: null,
  generation: null,
  ...known,
})

/** The same difference in two looks: the entry wasn't ordered anew in between. */
export const sameness = (difference: Difference): string =>
  [
    difference.kind,
    difference.agent,
    difference.list,
    difference.targetId,
    difference.address,
    difference.generation,
  ].join('|')

const order = Object.keys(differenceKinds)

/** The worst first, then by place. */
export const byWeight = (left: Difference, right: Difference): number =>
  order.indexOf(left.kind) - order.indexOf(right.kind) || (sameness(left) < sameness(right) ? -1 : 1)

/** What could not be looked at: the next look may find something there for the first time. */
export const isUnseen = ({ kind }: Difference): boolean =>
  kind === 'agentAway' || kind === 'noAnswer' || kind === 'listFailed' || kind === 'noServer'
