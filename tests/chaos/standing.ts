import { sql } from 'kysely'
import { validate } from '#server/validation/validate.service.ts'
import type { World } from './world.ts'

/** What stands at a door: the address, and the seconds it has left; 0 without an end. */
export type Standing = { door: string; address: string; seconds: number }

/** Everything that stands at all doors right now. */
export async function listStanding({ doors }: Pick<World, 'doors'>): Promise<Standing[]> {
  const lists = await Promise.all(
    doors.map(async ({ id, standing }) => {
      const entries = await standing()
      return Array.from(entries, ([address, seconds]) => ({ door: id, address, seconds }))
    }),
  )
  return lists.flat()
}

/** The first thing that is not well yet, in words; null when all is. Asks the system itself, not the storm's books. */
export async function findUnsettled(world: World): Promise<string | null> {
  const { db } = world.site
  const { rows } = await sql<{ address: string; name: string }>`
    select host(e.address) as address, a.name from entries e
    join targets t on t.id = e.target_id join agents a on a.id = t.agent_id
    where e.applied_generation < e.generation limit 1`.execute(db)
  if (rows[0] !== undefined) return `an order of ${rows[0].name} for ${rows[0].address} is not carried out`
  // Nobody can look into what scripts did; what they reported is compared.
  const [difference] = await validate(db, { settleSeconds: 0, acceptReported: true })
  return difference === undefined ? null : `knoc validate: ${JSON.stringify(difference)}`
}
