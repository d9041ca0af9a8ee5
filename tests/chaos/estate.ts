import type { KnocCreated } from '#server/knocs/knoc.schema.ts'
import type { TestHost } from '#tests/support/host.ts'
import { admin, password } from '#tests/support/site.ts'
import { run } from '../../deploy/demo/run.ts'
import type { Estate } from './administrator.ts'
import { familyOf, setsOf } from './doors/door-kind.ts'
import { doorKinds } from './doors/door-kinds.ts'
import { isDrawn } from './doors/plan-doors.ts'
import type { PersonFacts, StormKnoc } from './person.ts'
import { replicaPorts, type StormDoor, type World } from './world.ts'

/** WhenServerSilent of the strict knoc: the shortest there is. */
export const silentSeconds = 30

/** Who is where: some have an address of their own, others share one, and all of them go elsewhere now and then. */
const whereabouts: readonly {
  places: readonly (number | string)[]
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
  // Of both families, and at home in the younger one alone.
  { places: [110, '110'], minutes: 30, isSingle: false },
  { places: [105, '110'], minutes: 2, isSingle: true },
  { places: ['111', '112'], minutes: 30, isSingle: true },
]

/** Texts are of the younger family. */
const toAddress = (last: number | string): string =>
  typeof last === 'number' ? `10.77.0.${last}` : `fd77::${last}`

/**
 * Makes the people and their knocs: two on one set, one of a group, one that signing in opens, one that closes when
 * the server is silent, one that an administrator moves to and fro, a list that a foreign firewall fetches, one
 * whose firewall is told to, and one for each door that was drawn.
 */
export async function buildEstate({ site, agents, hosts, doors }: World) {
  const ask = site.console.request
  const places = [...new Set(whereabouts.flatMap((one) => one.places))].map(toAddress)
  for (const host of hosts) for (const place of places) await giveAddress(host, place)

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
  const doorNamed = (id: string): StormDoor => {
    const door = doors.find((built) => built.id === id)
    if (door === undefined) throw new Error(`no door ${id}`)
    return door
  }

  const knocs: (StormKnoc & { door: string })[] = []
  async function knoc(
    name: string,
    door: string,
    { isAutomatic = false, people = everybody, ...fields }: Record<string, unknown> & Options = {},
  ): Promise<KnocCreated> {
    const { config, agent: keeper, kind, cuts, publish } = doorNamed(door)
    const { child } = config
    const isPassive = 'allowlist' in config.backend
    const AgentID = agents.find((agent) => agent.name === keeper)?.id ?? null
    const created = await ask<KnocCreated>('POST', '/admin/knocs', {
      Backend: { AgentID: isPassive ? null : AgentID, Config: config.backend },
      ACL: {
        Description: name,
        ClickToGrant: !isAutomatic,
        ...(!isPassive && { CutConnections: cuts }),
        Config: config.acl,
        ...fields,
      },
      ...(isPassive && { ApiKey: { Option: 'new', Name: `the firewall of ${name}` } }),
      ...(child !== undefined && {
        Child: { Backend: { AgentID, Config: child.backend }, ACL: { Config: child.acl } },
      }),
      UserIDs: people.map(({ userId }) => userId),
    })
    knocs.push({ id: created.ID, name, isAutomatic, door, families: doorKinds[kind].families })
    const path = new URL(created.URL ?? 'http://none').pathname
    const urls = replicaPorts.map((port) => `http://127.0.0.1:${port}${path}`)
    await publish?.({ urls, key: created.PlaintextKey ?? '' })
    return created
  }

  await knoc('Files', 'files')
  await knoc('The same files', 'files')
  const { ID: team } = await knoc('Team', 'team', { people: [] })
  await knoc('By signing in', 'open', { isAutomatic: true })
  await knoc('Strict', 'strict', { WhenServerSilent: silentSeconds })
  const { ID: mover } = await knoc('Mover', 'open')
  const list = await knoc('Fetched', 'fetched')
  await knoc('Told', 'told')
  for (const { id } of doors.filter(isDrawn)) await knoc(id, id)
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
      doors: ['open', 'annex'].map((id) => ({ id, config: doorNamed(id).config.acl })),
    },
  }
  const fetched = {
    ...{ path: new URL(list.URL ?? '').pathname, key: list.PlaintextKey ?? '' },
    sets: setsOf(doorNamed('fetched')),
  }
  return { ...estate, places, knocs, admin, fetched }
}

/** The veth of each host's outside; an address of the younger family is to be there at once. */
async function giveAddress(host: TestHost, address: string): Promise<void> {
  if (familyOf(address) === 4) return void (await host.addressOfClient('add', address))
  const [file = '', ...args] = host.placeOutside(`ip -6 address add ${address}/64 dev wire0 nodad`.split(' '))
  await run(file, args)
}

type Options = { isAutomatic?: boolean; people?: { userId: string }[] }
