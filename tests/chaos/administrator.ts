import { setTimeout as wait } from 'node:timers/promises'
import { ApiFailure } from '../../deploy/demo/api-client.ts'
import { type Act, type Ledger, lingerMs } from './ledger.ts'
import type { PersonFacts } from './person.ts'
import type { Random } from './random.ts'
import { wasNeverAsked } from './roam.ts'
import type { Timeline } from './timeline.ts'

/** What the administrator of the storm looks after. */
export type Estate = {
  people: readonly PersonFacts[]
  group: { id: string; name: string; knocId: string }
  /** A knoc that moves between two doors. */
  mover: { id: string; name: string; doors: readonly { id: string; config: Record<string, unknown> }[] }
}

/** Takes rights away and gives them back, one change after the other, until the storm is over. */
export function startAdministrator(deps: {
  estate: Estate
  ledger: Ledger
  timeline: Timeline
  random: Random
  request: (method: string, path: string, body: unknown) => Promise<unknown>
}) {
  const { estate, ledger, timeline, random } = deps
  const members = new Set(estate.people.map(({ userId }) => userId))
  /** Residents are left alone. */
  const guests = estate.people.filter(({ isResident }) => !isResident)
  let isOver = false
  let changes = 0

  type Ending = 'done' | 'refused' | 'lost'

  /** One change: asked once; a lost answer is waited out, since it may still be carried out. */
  async function change(
    what: string,
    act: Act | null,
    about: readonly string[],
    [method, path, body]: [string, string, unknown],
  ): Promise<Ending> {
    const flying = act === null ? null : ledger.begin(act, Date.now())
    const ending = await askAround(method, path, body)
    flying?.end({ kind: ending, lingerMs }, Date.now())
    timeline.note(`admin ${what}: ${ending}`, about)
    if (ending === 'done') changes += 1
    if (ending === 'lost') await wait(lingerMs)
    return ending
  }

  /** Whoever finds nobody asks the next one: nothing was heard, so nothing can come of it. */
  async function askAround(method: string, path: string, body: unknown): Promise<Ending> {
    for (;;) {
      try {
        await deps.request(method, path, body)
        return 'done'
      } catch (error) {
        if (error instanceof ApiFailure && error.status < 500) return 'refused'
        if (!wasNeverAsked(error)) return 'lost'
        await wait(100)
      }
    }
  }

  /** The same until it was answered; for what has to be put back. */
  async function insist(...args: Parameters<typeof change>): Promise<void> {
    while ((await change(...args)) === 'lost');
  }

  const aboutPerson = ({ userName, places }: PersonFacts) => [userName, ...places]
  const userBody = ({ userId, userName }: PersonFacts, fields: object) => ({
    ID: userId,
    Name: userName,
    ...fields,
  })
  const put = (person: PersonFacts, fields: object): [string, string, unknown] => [
    'PUT',
    `/admin/users/${person.userId}`,
    userBody(person, fields),
  ]

  async function disable(person: PersonFacts): Promise<void> {
    const act: Act = {
      what: 'is disabled',
      scope: (claim) => claim.person === person.userName,
      effect: { kind: 'close' },
    }
    await change(
      `disables ${person.userName}`,
      act,
      aboutPerson(person),
      put(person, { LoginEnabled: false }),
    )
    await wait(500 + random.below(3_000))
    await insist(`enables ${person.userName}`, null, aboutPerson(person), put(person, { LoginEnabled: true }))
  }

  /** Everything of this person ends at an instant that is near. */
  async function shorten(person: PersonFacts): Promise<void> {
    const at = Date.now() + 2_000 + random.below(4_000)
    const act: Act = {
      what: 'ends soon',
      scope: (claim) => claim.person === person.userName,
      effect: { kind: 'end', at },
    }
    const ValidUntil = new Date(at).toISOString()
    await change(
      `lets ${person.userName} in until ${ValidUntil}`,
      act,
      aboutPerson(person),
      put(person, { ValidUntil }),
    )
    await wait(Math.max(0, at - Date.now()) + 500 + random.below(1_000))
    await insist(
      `lets ${person.userName} in again`,
      null,
      aboutPerson(person),
      put(person, { ValidUntil: null }),
    )
  }

  async function regroup(person: PersonFacts): Promise<void> {
    const { id, name, knocId } = estate.group
    const isIn = members.has(person.userId)
    if (isIn) members.delete(person.userId)
    else members.add(person.userId)
    const act: Act | null = isIn
      ? {
          what: 'leaves the group',
          scope: (claim) => claim.person === person.userName && claim.knoc === knocId,
          effect: { kind: 'close' },
        }
      : null
    // Lists are whole: the next change would carry out one whose answer was lost.
    await insist(`takes ${person.userName} ${isIn ? 'out of' : 'into'} the group`, act, aboutPerson(person), [
      'PUT',
      `/admin/groups/${id}`,
      { ID: id, Name: name, UserIDs: [...members] },
    ])
  }

  async function moveKnoc(): Promise<void> {
    const { id, name, doors } = estate.mover
    const from = doors.find((door) => door.id === ledger.doorOf(id)) ?? doors[0]
    const to = doors.find((door) => door !== from)
    if (from === undefined || to === undefined) return
    ledger.place(id, to.id, Date.now(), from.id)
    const body = { ACL: { Config: to.config } }
    for (;;) {
      const ending = await change(
        `moves ${name} from ${from.id} to ${to.id}`,
        null,
        [],
        ['PUT', `/admin/knocs/${id}`, body],
      )
      if (ending === 'lost') continue
      ledger.place(id, ending === 'done' ? to.id : from.id, Date.now())
      return
    }
  }

  /** Somebody who holds a door open. */
  function someoneInside(): PersonFacts | undefined {
    const inside = ledger.claims().filter(({ must, mustUntil }) => must && mustUntil > Date.now())
    const claim = inside[random.below(Math.max(1, inside.length))]
    return guests.find(({ userName }) => userName === claim?.person)
  }

  async function changeOnce(): Promise<void> {
    const person = guests[random.below(guests.length)]
    if (person === undefined) return
    const draw = random.below(10)
    if (draw < 3) await disable(person)
    else if (draw < 7) await shorten(someoneInside() ?? person)
    else if (draw < 9) await regroup(person)
    else await moveKnoc()
  }

  const working = (async () => {
    while (!isOver) {
      await changeOnce()
      await wait(random.below(1_000))
    }
  })()

  return {
    changes: () => changes,
    stop: async () => {
      isOver = true
      await working
    },
    /** The last change of a storm: nobody may go anywhere any more. */
    disableAll: async () => {
      for (const person of estate.people)
        await insist(
          `disables ${person.userName}`,
          {
            what: 'is disabled',
            scope: (claim) => claim.person === person.userName,
            effect: { kind: 'close' },
          },
          aboutPerson(person),
          put(person, { LoginEnabled: false }),
        )
    },
  }
}
