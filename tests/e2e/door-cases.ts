import { sql } from 'kysely'
import type { Scene } from '#tests/support/door-scene.ts'
import { places } from '#tests/support/door-stage.ts'

const { home, away, hotel, carrier, six, office, branch } = places

/** One change while doors stand, and the doors before it and after it. */
export type DoorCase = {
  what: string
  /** The knocs: fields of each, and who may have it beside its groups. Cleo's by herself unless said. */
  knocs?: { fields?: (scene: Scene) => Record<string, unknown>; for?: (keyof Scene['ids'])[] }[]
  /** Who clicks which knoc. Cleo the first one unless said. */
  clicks?: [keyof Scene['by'], number][]
  /** What is there before anybody clicks: addresses, memberships. */
  first?: (scene: Scene) => Promise<unknown>
  change: (scene: Scene) => Promise<unknown>
  before: string[]
  after: string[]
  /** No door may have more seconds left than this afterwards, or fewer than that. */
  atMostSeconds?: number
  atLeastSeconds?: number
  /** What the change leaves behind for other cases is taken back. */
  undo?: (scene: Scene) => Promise<unknown>
  /** Cleo is elsewhere afterwards, or may no more: the next case has a new one. */
  spendsCleo?: true
}

export const ipset = (V4SetName: string, V6SetName?: string) => ({
  Config: { ipset: { V4SetName, V6SetName } },
})
const restricted = (RestrictionType: string, ...ranges: [string, string][]) => ({
  IpExclusions: { RestrictionType, Ranges: ranges.map(([Start, End]) => ({ Start, End })) },
})
const fixed = (...ips: string[]) => ({ GrantType: { Type: 'specifiedIps', Ips: ips.map((Ip) => ({ Ip })) } })
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
/** Cleo's door where she is at first. */
export const mine = `edge a4 ${away}`

/** Both of Cleo's families, and what a lookup port of ours, or a foreign service, saw beside them. */
const holds = (address: string, source: 'own' | 'discovered' | 'claimed') => async (scene: Scene) => {
  await sql`
    insert into session_addresses (session_id, address, source)
    select id, ${address}::inet, ${source} from sessions where user_id = ${scene.ids.cleo} and ended_at is null
    on conflict (session_id, address) do update set left_at = null, doubted_at = null, source = excluded.source`.execute(
    scene.db,
  )
}
/** As if the knoc had been clicked, and its owner had signed in, longer ago. */
const longAgo =
  (minutes: number) =>
  async ({ db, ids }: Scene) => {
    await sql`
    update grants set created_at = created_at - make_interval(mins => ${minutes})
    where user_id = ${ids.cleo} and ended_at is null`.execute(db)
    await sql`
    update sessions set created_at = created_at - make_interval(mins => ${minutes})
    where user_id = ${ids.cleo} and ended_at is null`.execute(db)
  }
const inGroup = (name: 'local' | 'dynamic') => [
  { fields: ({ groups }: Scene) => ({ GroupIDs: [groups[name]] }), for: [] },
]
const setGroup = (
  { console, groups }: Scene,
  fields: Record<string, unknown>,
  name: 'local' | 'dynamic' = 'local',
) =>
  console.request('PUT', `/admin/groups/${groups[name]}`, {
    ID: groups[name],
    Name: `${name} group`,
    ...fields,
  })

/** What an administrator or a person may do to doors that are open. Whoever adds a way adds a row. */
export const doorCases: readonly DoorCase[] = [
  {
    what: 'one of two at a shared address gives it back: it stays',
    knocs: [{ for: ['ada', 'bob'] }],
    clicks: [
      ['ada', 0],
      ['bob', 0],
    ],
    before: [`edge a4 ${home}`],
    change: ({ by, knocs }) => by.ada.giveBack(knocs[0] ?? ''),
    after: [`edge a4 ${home}`],
  },
  {
    what: 'both at a shared address give it back at once: the last one turns off the light',
    knocs: [{ for: ['ada', 'bob'] }],
    clicks: [
      ['ada', 0],
      ['bob', 0],
    ],
    before: [`edge a4 ${home}`],
    change: ({ by, knocs }) =>
      Promise.all([by.ada.giveBack(knocs[0] ?? ''), by.bob.giveBack(knocs[0] ?? '')]),
    after: [],
  },
  {
    what: 'one of two knocs on one set is deleted: the other holds the door',
    knocs: [{ for: ['ada'] }, { for: ['bob'] }],
    clicks: [
      ['ada', 0],
      ['bob', 1],
    ],
    before: [`edge a4 ${home}`],
    change: ({ remove, knocs }) => remove(`/admin/knocs/${knocs[0]}`),
    after: [`edge a4 ${home}`],
  },
  {
    what: 'the second of two knocs on one set is deleted as well',
    knocs: [{ for: ['ada'] }, { for: ['bob'] }],
    clicks: [
      ['ada', 0],
      ['bob', 1],
    ],
    before: [`edge a4 ${home}`],
    change: ({ remove, knocs }) => Promise.all(knocs.map((id) => remove(`/admin/knocs/${id}`))),
    after: [],
  },
  {
    what: 'one user on two devices at two addresses gives one back',
    knocs: [{ for: ['ada'] }],
    clicks: [
      ['ada', 0],
      ['adaAway', 0],
    ],
    before: [`edge a4 ${home}`, `edge a4 ${away}`],
    change: ({ by, knocs }) => by.ada.giveBack(knocs[0] ?? ''),
    after: [`edge a4 ${away}`],
  },
  {
    what: 'one user in two sessions at one address gives one back: they overlap, it stays',
    knocs: [{ for: ['ada'] }],
    clicks: [
      ['ada', 0],
      ['ada2', 0],
    ],
    before: [`edge a4 ${home}`],
    change: ({ by, knocs }) => by.ada.giveBack(knocs[0] ?? ''),
    after: [`edge a4 ${home}`],
  },
  {
    what: 'the knoc is taken from a user in several sessions',
    knocs: [{ for: ['ada', 'bob'] }],
    clicks: [
      ['ada', 0],
      ['ada2', 0],
      ['adaAway', 0],
      ['bob', 0],
    ],
    before: [`edge a4 ${home}`, `edge a4 ${away}`],
    change: ({ editUser }) => editUser('ada', { AclIds: [] }),
    after: [`edge a4 ${home}`],
  },
  {
    what: 'the address changes in the middle of a grant: the door follows',
    before: [mine],
    change: ({ by }) => by.cleo.look(hotel),
    after: [`edge a4 ${hotel}`],
    spendsCleo: true,
  },
  {
    what: 'one of two who share an address moves: both doors are there',
    knocs: [{ for: ['cleo', 'ada'] }],
    clicks: [
      ['cleo', 0],
      ['adaAway', 0],
    ],
    before: [mine],
    change: ({ by }) => by.cleo.look(hotel),
    after: [mine, `edge a4 ${hotel}`],
    spendsCleo: true,
  },
  {
    what: 'a deny list comes that names one of two addresses',
    knocs: [{ for: ['ada'] }],
    clicks: [
      ['ada', 0],
      ['adaAway', 0],
    ],
    before: [`edge a4 ${home}`, `edge a4 ${away}`],
    change: ({ edit }) => edit(restricted('denyList', ['198.51.100.0', '198.51.100.9'])),
    after: [`edge a4 ${home}`],
  },
  {
    what: 'an allow list comes that misses one of two addresses',
    knocs: [{ for: ['ada'] }],
    clicks: [
      ['ada', 0],
      ['adaAway', 0],
    ],
    before: [`edge a4 ${home}`, `edge a4 ${away}`],
    change: ({ edit }) => edit(restricted('allowList', ['198.51.100.0', '198.51.100.9'])),
    after: [`edge a4 ${away}`],
  },
  {
    what: 'only private addresses are allowed from now on',
    knocs: [{ for: ['ada'] }],
    clicks: [
      ['ada', 0],
      ['adaAway', 0],
    ],
    before: [`edge a4 ${home}`, `edge a4 ${away}`],
    change: ({ edit }) => edit({ IpExclusions: { RestrictionType: 'RFC1918', RfcType: 'allow' } }),
    after: [`edge a4 ${home}`],
  },
  {
    what: 'a restriction that misses everybody moves nothing',
    before: [mine],
    change: ({ edit }) => edit(restricted('denyList', ['203.0.113.1', '203.0.113.9'])),
    after: [mine],
  },
  {
    what: 'the knoc is deleted',
    before: [mine],
    change: ({ remove, knocs }) => remove(`/admin/knocs/${knocs[0]}`),
    after: [],
  },
  {
    what: 'the user leaves the group',
    knocs: inGroup('local'),
    before: [mine],
    change: (scene) => setGroup(scene, { UserIDs: [] }),
    after: [],
    undo: (scene) => setGroup(scene, { UserIDs: [scene.ids.cleo] }),
  },
  {
    what: 'the user leaves the group and has the knoc otherwise',
    knocs: [{ fields: ({ groups }) => ({ GroupIDs: [groups.local] }) }],
    before: [mine],
    change: (scene) => setGroup(scene, { UserIDs: [] }),
    after: [mine],
    undo: (scene) => setGroup(scene, { UserIDs: [scene.ids.cleo] }),
  },
  {
    what: 'the group loses the knoc',
    knocs: [...inGroup('local'), ...inGroup('local')],
    clicks: [
      ['cleo', 0],
      ['cleo', 1],
    ],
    first: ({ edit }) => edit(ipset('b4'), 1),
    before: [mine, `edge b4 ${away}`],
    change: (scene) => setGroup(scene, { ACLIDs: [scene.knocs[1]] }),
    after: [`edge b4 ${away}`],
  },
  {
    what: 'the knoc loses its group, on the knoc’s own page',
    knocs: inGroup('local'),
    before: [mine],
    change: ({ console, knocs }) => console.request('PUT', `/admin/knocs/${knocs[0]}`, { GroupIDs: [] }),
    after: [],
  },
  {
    what: 'the group is deleted',
    knocs: inGroup('local'),
    before: [mine],
    change: ({ remove, groups }) => remove(`/admin/groups/${groups.local}`),
    after: [],
    spendsCleo: true,
  },
  {
    what: 'a group that claims fill gets another name: claims are asked at the next sign-in, nothing moves',
    knocs: inGroup('dynamic'),
    before: [mine],
    change: (scene) => setGroup(scene, { Name: 'renamed group' }, 'dynamic'),
    after: [mine],
    undo: (scene) => setGroup(scene, {}, 'dynamic'),
  },
  {
    what: 'the user is disabled',
    before: [mine],
    change: ({ editUser }) => editUser('cleo', { LoginEnabled: false }),
    after: [],
    spendsCleo: true,
  },
  {
    what: 'the user is deleted',
    knocs: [{ for: ['cleo', 'ada'] }],
    clicks: [
      ['cleo', 0],
      ['ada', 0],
    ],
    before: [mine, `edge a4 ${home}`],
    change: ({ remove, ids }) => remove(`/admin/users/${ids.cleo}`),
    after: [`edge a4 ${home}`],
    spendsCleo: true,
  },
  {
    what: 'ValidUntil comes nearer: the door ends there',
    before: [mine],
    change: ({ editUser }) => editUser('cleo', { ValidUntil: inSeconds(120) }),
    after: [mine],
    atMostSeconds: 121,
    spendsCleo: true,
  },
  {
    what: 'ValidUntil is past',
    before: [mine],
    change: ({ editUser }) => editUser('cleo', { ValidUntil: inSeconds(-1) }),
    after: [],
    spendsCleo: true,
  },
  {
    what: 'Duration gets shorter: sessions end as if they had begun with it',
    before: [mine],
    first: longAgo(10),
    change: ({ editUser }) => editUser('cleo', { Duration: 15 }),
    after: [mine],
    atMostSeconds: 301,
    spendsCleo: true,
  },
  {
    what: 'Duration gets shorter than the session has lasted',
    before: [mine],
    first: longAgo(10),
    change: ({ editUser }) => editUser('cleo', { Duration: 5 }),
    after: [],
    spendsCleo: true,
  },
  {
    what: 'Duration and ValidUntil get longer: no end moves',
    before: [mine],
    first: ({ editUser }) => editUser('cleo', { ValidUntil: inSeconds(300) }),
    change: ({ editUser }) => editUser('cleo', { Duration: 10_000, ValidUntil: inSeconds(90_000) }),
    after: [mine],
    atMostSeconds: 301,
    spendsCleo: true,
  },
  {
    what: 'MaximumGrantDuration gets shorter: counted from the click',
    knocs: [{ fields: () => ({ MaximumGrantDuration: 3600 }) }],
    before: [mine],
    change: ({ edit }) => edit({ MaximumGrantDuration: 300 }),
    after: [mine],
    atMostSeconds: 301,
  },
  {
    what: 'MaximumGrantDuration gets shorter than the grant has lasted',
    before: [mine],
    change: async (scene) => {
      await longAgo(6)(scene)
      await scene.edit({ MaximumGrantDuration: 300 })
    },
    after: [],
    spendsCleo: true,
  },
  {
    what: 'MaximumGrantDuration gets longer: no end moves',
    knocs: [{ fields: () => ({ MaximumGrantDuration: 300 }) }],
    before: [mine],
    change: ({ edit }) => edit({ MaximumGrantDuration: null }),
    after: [mine],
    atMostSeconds: 301,
  },
  {
    what: 'the backend moves to another agent',
    before: [mine],
    change: ({ console, knocs, agents }) =>
      console.request('PUT', `/admin/knocs/${knocs[0]}`, { Backend: { AgentID: agents.branch.id } }),
    after: [`branch a4 ${away}`],
  },
  {
    what: 'the backend’s command is edited',
    knocs: [
      {
        fields: () => ({
          Backend: { Config: { script: { Command: 'to-a4' } } },
          Config: { script: { Name: 'door' } },
        }),
      },
    ],
    before: [mine],
    change: ({ console, knocs }) =>
      console.request('PUT', `/admin/knocs/${knocs[0]}`, {
        Backend: { Config: { script: { Command: 'to-b4' } } },
      }),
    after: [`edge b4 ${away}`],
  },
  {
    what: 'another set is named',
    before: [mine],
    change: ({ edit }) => edit(ipset('b4')),
    after: [`edge b4 ${away}`],
  },
  {
    what: 'another set is named for one of two knocs that share one',
    knocs: [{ for: ['cleo'] }, { for: ['ada'] }],
    clicks: [
      ['cleo', 0],
      ['adaAway', 1],
    ],
    before: [mine],
    change: ({ edit }) => edit(ipset('b4')),
    after: [mine, `edge b4 ${away}`],
  },
  {
    what: 'a set for the other family is added',
    first: holds(six, 'own'),
    before: [mine],
    change: ({ edit }) => edit(ipset('a4', 'a6')),
    after: [mine, `edge a6 ${six}`],
    spendsCleo: true,
  },
  {
    what: 'the set for the other family is removed',
    knocs: [{ fields: () => ipset('a4', 'a6') }],
    first: holds(six, 'own'),
    before: [mine, `edge a6 ${six}`],
    change: ({ edit }) => edit(ipset('a4')),
    after: [mine],
    spendsCleo: true,
  },
  {
    what: 'fixed addresses take the place of the user’s',
    before: [mine],
    change: ({ edit }) => edit(fixed(office, branch)),
    after: [`edge a4 ${office}`, `edge a4 ${branch}`],
  },
  {
    what: 'the user’s address takes the place of fixed ones',
    knocs: [{ fields: () => fixed(office, branch) }],
    before: [`edge a4 ${office}`, `edge a4 ${branch}`],
    change: ({ edit }) => edit({ GrantType: { Type: 'userIp', Ips: [] } }),
    after: [mine],
  },
  {
    what: 'the fixed addresses are edited',
    knocs: [{ fields: () => fixed(office, branch) }],
    before: [`edge a4 ${office}`, `edge a4 ${branch}`],
    change: ({ edit }) => edit(fixed(branch, hotel)),
    after: [`edge a4 ${branch}`, `edge a4 ${hotel}`],
  },
  {
    what: 'the knoc is closed to CGNAT: discovered addresses leave, the own one stays',
    knocs: [{ fields: () => ({ CGNATOpen: true }) }],
    first: holds(carrier, 'discovered'),
    before: [mine, `edge a4 ${carrier}`],
    change: ({ edit }) => edit({ CGNATOpen: false }),
    after: [mine],
    spendsCleo: true,
  },
  {
    what: 'the knoc is opened to CGNAT: discovered addresses join',
    first: holds(carrier, 'discovered'),
    before: [mine],
    change: ({ edit }) => edit({ CGNATOpen: true }),
    after: [mine, `edge a4 ${carrier}`],
    spendsCleo: true,
  },
  {
    what: 'the word of lookup services is trusted no more',
    knocs: [{ fields: () => ({ CGNATOpen: true }) }],
    first: async (scene) => {
      await scene.console.request('POST', '/admin/settings/config', { TrustDiscoveryClaims: true })
      await holds(carrier, 'claimed')(scene)
    },
    before: [mine, `edge a4 ${carrier}`],
    change: ({ console }) =>
      console.request('POST', '/admin/settings/config', { TrustDiscoveryClaims: false }),
    after: [mine],
    spendsCleo: true,
  },
  {
    what: 'the licence ends: nothing closes, and a door still follows its user',
    before: [mine],
    change: async ({ db, by }) => {
      await sql`update licences set ended_at = now() where removed_at is null`.execute(db)
      await by.cleo.look(hotel)
    },
    after: [`edge a4 ${hotel}`],
    undo: ({ license }) => license(),
    spendsCleo: true,
  },
  {
    what: 'the licence is removed: everything closes',
    knocs: [{ for: ['ada', 'cleo'] }],
    clicks: [
      ['ada', 0],
      ['cleo', 0],
    ],
    before: [`edge a4 ${home}`, mine],
    change: ({ remove }) => remove('/admin/settings/license'),
    after: [],
    undo: ({ license }) => license(),
  },
  {
    what: 'the licence shrinks: the youngest accounts lose access, the others keep it',
    knocs: [{ for: ['ada', 'cleo'] }],
    clicks: [
      ['ada', 0],
      ['cleo', 0],
    ],
    before: [`edge a4 ${home}`, mine],
    change: ({ license }) => license(2),
    after: [`edge a4 ${home}`],
    undo: ({ license }) => license(),
  },
]
