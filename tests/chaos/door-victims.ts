import { setTimeout as wait } from 'node:timers/promises'
import type { Arena } from './victims.ts'
import type { StormDoor } from './world.ts'

/** A door loses all its entries behind its agent's back. */
export async function loseEntries({ world, random, timeline, tell }: Arena): Promise<boolean> {
  const door = drawDoor(world.doors, ({ lose }) => lose !== undefined, random)
  if (door?.lose === undefined) return false
  timeline.note(`takes everything from ${door.id}`)
  tell({ type: 'door.away', door: door.id })
  await door.lose()
  tell({ type: 'door.back', door: door.id })
  return true
}

/** The program that holds a door's entries dies, and is started again. */
export async function killProgram(arena: Arena): Promise<boolean> {
  return whileAway(arena, 'kills the program of', async (door) => {
    await door.program?.kill()
    await wait(arena.random.below(1_500))
    await door.program?.start()
  })
}

/** A new process of it takes over, and has none of the entries. */
export async function reloadProgram(arena: Arena): Promise<boolean> {
  return whileAway(arena, 'reloads the program of', async (door) => door.program?.reload())
}

function whileAway(
  { world, random, timeline, tell, later, isBusy }: Arena,
  how: string,
  act: (door: StormDoor) => Promise<void>,
): boolean {
  const door = drawDoor(world.doors, ({ program }) => program !== undefined, random)
  if (door === undefined || isBusy(`door ${door.id}`)) return false
  timeline.note(`${how} ${door.id}`)
  tell({ type: 'door.away', door: door.id })
  later(`door ${door.id}`, async () => {
    await act(door)
    tell({ type: 'door.back', door: door.id })
    timeline.note(`${door.id} has its program again`)
  })
  return true
}

function drawDoor(
  doors: readonly StormDoor[],
  isFit: (door: StormDoor) => boolean,
  random: Arena['random'],
): StormDoor | undefined {
  const fit = doors.filter(isFit)
  return fit[random.below(Math.max(1, fit.length))]
}
