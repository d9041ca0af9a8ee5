import type { KnocCreated } from '#server/knocs/knoc.schema.ts'
import { admin, password } from '#tests/support/site.ts'
import type { Estate } from './administrator.ts'
import type { PersonFacts, StormKnoc } from './person.ts'
import type { PlannedDoor, StormAgent, World } from './world.ts'

/** WhenServerSilent of the strict knoc: the shortest there is. */
export const silentSeconds = 30

/** The doors: two of one agent, three of the other, of which one closes in silence, and one of a foreign firewall. */
export const plannedDoors: readonly PlannedDoor[] = [
  { id: 'files', agent: 'edge-1', hostIndex: 0, port: 2201, set: 'files4', isStrict: false },
  { id: 'team', agent: 'edge-1', hostIndex: 0, port: 2202, set: 'team4', isStrict: false },
  { id: 'open', agent: 'edge-2', hostIndex: 1, port: 2203, set: 'open4', isStrict: false },
  { id: 'strict', agent: 'edge-2', hostIndex: 1, port: 2204, set: 'strict4', isStrict: true },
  { id: 'annex', agent: 'edge-2', hostIndex: 1, port: 2205, set: 'annex4', isStrict: false },
  { id: 'fetched', agent: 'firewall', hostIndex: 0, port: 2206, set: 'fetched4', isStrict: false },
]

/** Who is where: some have an address of their own, others share one, and all of them go elsewhere now and then. */
const whereabouts: readonly {
  places: readonly number[]
  minutes: number
  isSingle: boolean
  isResident?: boolean
}[] = [
  { places: [101, 106], minutes: 1, isSingle: false },
  { places: [102, 107], minutes: 2, isSingle: true },
  { places: [103, 106], minutes: 30, isSingle: true },
  { places: [103, 107], minutes: 30, isSingle: false },
  { places: [104, 108], minutes: 1, isSingle: true },
  { places: [104, 103], minutes: 30, isSingle: true },
  { places: [104, 108], minutes: 2, isSingle: false },
  { places: [105, 104], minutes: 30, isSingle: true },
  { places: [109], minutes: 60, isSingle: true, isResident: true },
]

const toAddress = (last: number): string => `10.77.0.${last}`

/**
 * Makes the people and their knocs: two on one set, one of a group, one that signing in opens, one that closes when
 * the server is silent, one that an administrator moves to and fro, and a list that a foreign firewall fetches.
 */
export async function buildEstate({ site, agents, hosts }: World) {
  const ask = site.console.request
  const places = [...new Set(whereabouts.flatMap((one) => one.places))].map(toAddress)
  for (const host of hosts) for (const place of places) await host.addressOfClient('add', place)

  const userIds: string[] = []
  for (const [index, { minutes, isSingle }] of whereabouts.entries()) {
    const { ID } = await ask<{ ID: string }>('POST', '/admin/users', {
      Name: `person-${index}`,
      UserName: `person-${index}`,
      PlainPassword: password,
      Duration: minutes,
      SessionLimit: isSingle ? 1 : null,
    })
    userIds.push(ID)
  }
  const everybody = userIds.map((userId) => ({ userId }))
  const [first, second] = agents as [StormAgent, StormAgent]

  const knocs: (StormKnoc & { door: string })[] = []
  async function knoc(
    name: string,
    door: string,
    { isAutomatic = false, people = everybody, ...fields }: Record<string, unknown> & Options = {},
  ): Promise<string> {
    const { set, agent: keeper } = doorNamed(door)
    const { ID } = await site.aKnoc(keeper === first.name ? first.id : second.id, {
      name,
      set4: set,
      people,
      ClickToGrant: !isAutomatic,
      ...fields,
    })
    knocs.push({ id: ID, name, isAutomatic, door })
    return ID
  }

  await knoc('Files', 'files')
  await knoc('The same files', 'files')
  const team = await knoc('Team', 'team', { people: [] })
  await knoc('By signing in', 'open', { isAutomatic: true })
  await knoc('Strict', 'strict', { WhenServerSilent: silentSeconds })
  const mover = await knoc('Mover', 'open')
  const list = await ask<KnocCreated>('POST', '/admin/knocs', {
    Backend: { AgentID: null, Config: { allowlist: {} } },
    ACL: { Description: 'Fetched', ClickToGrant: true, Config: { allowlist: {} } },
    ApiKey: { Option: 'new', Name: 'a firewall of somebody else' },
    UserIDs: userIds,
  })
  knocs.push({ id: list.ID, name: 'Fetched', isAutomatic: false, door: 'fetched' })
  const group = { Name: 'Team', UserIDs: userIds, ACLIDs: [team] }
  const { ID: groupId } = await ask<{ ID: string }>('POST', '/admin/groups', group)

  const people = whereabouts.map(
    ({ places: last, minutes, isSingle, isResident = false }, index): PersonFacts => ({
      userId: userIds[index] ?? '',
      userName: `person-${index}`,
      places: last.map(toAddress),
      sessionMinutes: minutes,
      isSingle,
      isResident,
      knocs,
    }),
  )
  const estate: Estate = {
    people,
    group: { id: groupId, name: group.Name, knocId: team },
    mover: {
      id: mover,
      name: 'Mover',
      doors: [doorNamed('open'), doorNamed('annex')],
    },
  }
  const fetched = {
    ...{ path: new URL(list.URL ?? '').pathname, key: list.PlaintextKey ?? '' },
    ...{ set: doorNamed('fetched').set },
  }
  return { ...estate, places, knocs, admin, fetched }
}

function doorNamed(id: string): PlannedDoor {
  const door = plannedDoors.find((planned) => planned.id === id)
  if (door === undefined) throw new Error(`no door ${id}`)
  return door
}

type Options = { isAutomatic?: boolean; people?: { userId: string }[] }
