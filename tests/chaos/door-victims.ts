import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from './random.ts'
import type { Arena } from './victims.ts'
import type { StormDoor } from './world.ts'

/** A door loses all its entries behind its agent's back. */
export async function loseEntries({ world, random, timeline, tell }: Arena): Promise<boolean> {
  const door = drawOne(
    world.doors.filter(({ lose }) => lose !== undefined),
    random,
  )
  if (door?.lose === undefined) return false
  timeline.note(`takes everything from ${door.id}`)
  tell({ type: 'door.away', door: door.id })
  await door.lose()
  tell({ type: 'door.back', door: door.id })
  return true
}

/** The program that holds a door's entries, or is told of them, dies and is started again. */
export async function killProgram(arena: Arena): Promise<boolean> {
  const door = drawOne(
    arena.world.doors.filter(({ program }) => program !== undefined),
    arena.random,
  )
  if (door === undefined) return false
  return whileAway(arena, door, 'kills the program of', async () => {
    await door.program?.kill()
    await wait(arena.random.below(1_500))
    await door.program?.start()
  })
}

/** A new process takes over at each door whose program can do that, and has none of the entries. */
export async function reloadPrograms(arena: Arena): Promise<boolean> {
  const doors = arena.world.doors.filter(({ program }) => program?.reload !== undefined)
  const reload = (door: StormDoor) =>
    whileAway(arena, door, 'reloads the program of', async () => door.program?.reload?.())
  return doors.map(reload).includes(true)
}

function whileAway(
  { timeline, tell, later, isBusy }: Arena,
  { id }: StormDoor,
  how: string,
  act: () => Promise<void>,
): boolean {
  if (isBusy(`door ${id}`)) return false
  timeline.note(`${how} ${id}`)
  tell({ type: 'door.away', door: id })
  later(`door ${id}`, async () => {
    await act()
    tell({ type: 'door.back', door: id })
    timeline.note(`${id} has its program again`)
  })
  return true
}

const drawOne = (doors: readonly StormDoor[], random: Random): StormDoor | undefined =>
  doors[random.below(Math.max(1, doors.length))]
