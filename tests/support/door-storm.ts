import { randomFrom } from '#machines/testing/world.ts'
import { ApiFailure } from '../../deploy/demo/api-client.ts'
import { places, type Stage, sleep, type Visitor } from './door-stage.ts'

const people = 10
const sessionsEach = 5
/** Twelve addresses for fifty sessions: most doors are shared. */
const addresses = Array.from({ length: 12 }, (_, i) =>
  i % 3 === 0 ? `10.9.1.${i + 1}` : `198.51.100.${i + 10}`,
)

type Storm = { users: string[]; knocs: string[]; group: string; pick: <T>(all: readonly T[]) => T }

/**
 * Fifty sessions of ten people that click, give back and move at random over three knocs on two sets, while two
 * administrators change what their rights hang on. `over` resolves when all of them have stopped.
 */
export async function startStorm(stage: Stage, { seed, ms }: { seed: number; ms: number }) {
  const random = randomFrom(seed)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const names = Array.from({ length: people }, (_, i) => `guest-${i}`)
  const users: string[] = []
  for (const name of names) users.push(await stage.invite(name))
  const group = await stage.console.request<{ ID: string }>('POST', '/admin/groups', {
    Name: 'guests',
    Type: 'local',
    UserIDs: users,
  })
  const sets = [['a4', 'a6'], ['a4'], ['b4']] as const
  const knocs: string[] = []
  for (const [V4SetName, V6SetName] of sets) {
    const Config = { ipset: { V4SetName, ...(V6SetName && { V6SetName }) } }
    knocs.push(await stage.makeKnoc({ Config, GroupIDs: [group.ID] }, users.slice(0, 5)))
  }
  const storm: Storm = { users, knocs, group: group.ID, pick }

  // Passwords cost what they shall: two at a time, the first ones before the storm.
  const signInLater = inTurns(2, (name: string, from: string) => stage.signIn(name, from))
  const guests = names.flatMap((name) =>
    Array.from({ length: sessionsEach }, () => ({ name, from: pick(addresses) })),
  )
  const visitors = await Promise.all(guests.map(({ name, from }) => signInLater(name, from)))

  const until = performance.now() + ms
  const isOn = () => performance.now() < until
  const done = { seed, opened: 0, refused: 0, changes: 0, faults: [] as string[] }
  const attempt = async (what: string, act: () => Promise<unknown>): Promise<boolean> => {
    try {
      await act()
      return true
    } catch (error) {
      // What was taken away meanwhile is refused; anything else is a fault.
      const isRefused = error instanceof ApiFailure && error.status < 500
      if (isRefused) done.refused += 1
      else done.faults.push(`${what}: ${String(error)}`)
      return false
    }
  }

  async function visit({ name, from }: (typeof guests)[number], first: Visitor | undefined): Promise<void> {
    let visitor = first
    while (isOn()) {
      if (visitor === undefined)
        await attempt('sign in', async () => {
          visitor = await signInLater(name, from)
        })
      else await act(visitor)
      await sleep(random() * 200)
    }
    async function act(who: Visitor): Promise<void> {
      const chance = random()
      if (chance < 0.5) {
        if (await attempt('click', () => who.click(pick(knocs)))) done.opened += 1
      } else if (chance < 0.75) await attempt('give back', () => who.giveBack(pick(knocs)))
      else if (chance < 0.85) await attempt('move', () => who.look(pick(addresses)))
      else if (!(await attempt('look', () => who.look()))) visitor = undefined
    }
  }

  async function administer(): Promise<void> {
    while (isOn()) {
      const [what, change] = pick(changes)
      if (await attempt(what, () => change(stage, storm))) done.changes += 1
      await sleep(random() * 150)
    }
    await attempt('enable', async () => {
      for (const id of users)
        await stage.console.request('PUT', `/admin/users/${id}`, { ID: id, Name: 'Guest' })
    })
  }

  const visits = guests.map((guest, i) => visit(guest, visitors[i]))
  const over = Promise.all([...visits, administer(), administer()]).then(() => done)
  return { ...storm, over }
}

/** The same function, so many at a time; the others wait. */
function inTurns<Given extends unknown[], Result>(
  width: number,
  act: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result> {
  const lanes: Promise<unknown>[] = Array.from({ length: width }, async () => undefined)
  let next = 0
  return (...given) => {
    const lane = next++ % width
    const result = Promise.resolve(lanes[lane]).then(() => act(...given))
    lanes[lane] = result.catch(() => undefined)
    return result
  }
}

const edit = (stage: Stage, { knocs, pick }: Storm, ACL: Record<string, unknown>, Backend?: object) =>
  stage.console.request('PUT', `/admin/knocs/${pick(knocs)}`, { ACL, ...(Backend && { Backend }) })

const editUser = (stage: Stage, { users, pick }: Storm, fields: Record<string, unknown>) => {
  const id = pick(users)
  return stage.console.request('PUT', `/admin/users/${id}`, { ID: id, Name: 'Guest', ...fields })
}

/** What an administrator does, each with a name for the faults. */
const changes: readonly (readonly [string, (stage: Stage, storm: Storm) => Promise<unknown>])[] = [
  [
    'deny list',
    (stage, storm) =>
      edit(stage, storm, {
        IpExclusions: {
          RestrictionType: storm.pick(['denyList', 'allowList']),
          Ranges: [{ Start: '198.51.100.0', End: '198.51.100.15' }],
        },
      }),
  ],
  [
    'private only',
    (stage, storm) =>
      edit(stage, storm, {
        IpExclusions: { RestrictionType: 'RFC1918', RfcType: storm.pick(['allow', 'deny']) },
      }),
  ],
  [
    'no restriction',
    (stage, storm) => edit(stage, storm, { IpExclusions: { RestrictionType: 'none', Ranges: [] } }),
  ],
  [
    'no restriction anywhere',
    async (stage, { knocs }) => {
      for (const id of knocs)
        await stage.console.request('PUT', `/admin/knocs/${id}`, {
          ACL: { IpExclusions: { RestrictionType: 'none', Ranges: [] } },
        })
    },
  ],
  [
    'fixed addresses',
    (stage, storm) =>
      edit(stage, storm, {
        GrantType: {
          Type: 'specifiedIps',
          Ips: [{ Ip: places.office }, { Ip: storm.pick([places.branch, places.six]) }],
        },
      }),
  ],
  ['user addresses', (stage, storm) => edit(stage, storm, { GrantType: { Type: 'userIp', Ips: [] } })],
  [
    'another set',
    (stage, storm) => edit(stage, storm, { Config: { ipset: { V4SetName: storm.pick(['a4', 'b4']) } } }),
  ],
  [
    'a set for IPv6',
    (stage, storm) =>
      edit(stage, storm, { Config: { ipset: { V4SetName: 'a4', V6SetName: storm.pick(['a6', 'b6']) } } }),
  ],
  [
    'another agent',
    (stage, storm) =>
      edit(stage, storm, {}, { AgentID: stage.agents[storm.pick(['edge', 'branch'] as const)].id }),
  ],
  [
    'maximum',
    (stage, storm) => edit(stage, storm, { MaximumGrantDuration: storm.pick([300, 600, 3600, null]) }),
  ],
  ['duration', (stage, storm) => editUser(stage, storm, { Duration: storm.pick([1, 60, 480, 1000]) })],
  [
    'valid until',
    (stage, storm) =>
      editUser(stage, storm, {
        ValidUntil: new Date(Date.now() + storm.pick([5, 90, 9_000]) * 1000).toISOString(),
      }),
  ],
  ['disable', (stage, storm) => editUser(stage, storm, { LoginEnabled: false })],
  [
    'enable all',
    async (stage, { users }) => {
      for (const id of users)
        await stage.console.request('PUT', `/admin/users/${id}`, {
          ID: id,
          Name: 'Guest',
          LoginEnabled: true,
          ValidUntil: null,
          Duration: 480,
        })
    },
  ],
  [
    'own knocs',
    (stage, storm) => editUser(stage, storm, { AclIds: storm.knocs.filter(() => storm.pick([true, false])) }),
  ],
  [
    'members',
    (stage, { group, users, pick }) =>
      stage.console.request('PUT', `/admin/groups/${group}`, {
        ID: group,
        Name: 'guests',
        UserIDs: users.filter(() => pick([true, true, false])),
      }),
  ],
  [
    'knocs of the group',
    (stage, { group, knocs, pick }) =>
      stage.console.request('PUT', `/admin/groups/${group}`, {
        ID: group,
        Name: 'guests',
        ACLIDs: knocs.filter(() => pick([true, true, false])),
      }),
  ],
  [
    'another knoc in its place',
    async (stage, { group, knocs, users, pick }) => {
      const index = pick([0, 1, 2])
      await stage.console.request('DELETE', `/admin/knocs/${knocs[index]}`)
      knocs[index] = await stage.makeKnoc({ GroupIDs: [group] }, users)
    },
  ],
  [
    'a smaller licence',
    async (stage) =>
      stage.console.request('POST', '/admin/settings/license', { License: await stage.issueLicence(8) }),
  ],
  [
    'a larger licence',
    async (stage) =>
      stage.console.request('POST', '/admin/settings/license', { License: await stage.issueLicence(200) }),
  ],
]
