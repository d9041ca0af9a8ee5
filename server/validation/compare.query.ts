import { type Kysely, sql } from 'kysely'
import { longestKernelTimeoutSeconds } from '#machines/journal.ts'
import type { DB } from '../platform/database.types.ts'
import { listName } from './lists.query.ts'

/** Kernel timeouts are whole seconds, rounded up; and the agent knows the database's time to a fraction. */
const lateSeconds = 1.25

/** An entry may end this much before its end is a difference: the kernel tells whole seconds, rounded down. */
const earlySeconds = 2

/** An entry whose end is further away than the kernel counts is written again halfway there, with some delay. */
const renewedSeconds = Math.floor(longestKernelTimeoutSeconds / 2) - 120

/** An address that is not on a list as it was ordered. */
export type ListedDifference = {
  kind: 'leftOpen' | 'tooLong' | 'missing' | 'tooShort' | 'foreign'
  list: string
  targetId: string
  address: string
  generation: number | null
  userName: string | null
  since: Date | null
  /** Seconds by which its end is wrong. */
  wrongSeconds: number | null
  errorText: string | null
}

/**
 * Holds what stands on a list against all entries of all targets that mean it. An address on it is right if any of
 * them is ordered open, to the latest end among them.
 *
 * Ends are judged by the database's clock alone: what stands there when the agent was asked may not end later than
 * it should, and when it had answered not earlier. So a wrong clock of an agent is found, and a slow answer is not
 * taken for one.
 */
export async function compareList(
  db: Kysely<DB>,
  { validationId, targetId, limit }: { validationId: string; targetId: string; limit: number },
): Promise<ListedDifference[]> {
  const { rows } = await sql<ListedDifference>`
    with list as materialized (
      select l.validation_id, t.id as target_id, t.agent_id, t.type, t.key, t.expiry, l.asked_at, l.answered_at,
        ${listName} as name
      from validation_lists l join targets t on t.id = l.target_id
      where l.validation_id = ${validationId} and l.target_id = ${targetId} and l.state = 'listed'
    ), wanted as materialized (
      select e.address, bool_or(e.desired = 'open') as is_open, max(e.generation) as generation,
        max(e.until) filter (where e.desired = 'open') as until,
        max(e.ordered_until) filter (where e.desired = 'open') as ordered_until,
        max(e.ordered_at) as ordered_at, max(e.error_text) as error_text,
        (array_agg(e.user_name order by e.generation desc))[1] as user_name
      from list join targets t on t.agent_id = list.agent_id and t.type = list.type and t.key = list.key
      join entries e on e.target_id = t.id
      where e.generation > 0
      group by e.address
    ), actual as materialized (
      select a.address, a.remaining_seconds
      from list join validation_entries a on a.validation_id = list.validation_id and a.target_id = list.target_id
    ), compared as (
      select coalesce(w.address, a.address) as address, a.remaining_seconds, a.address is not null as stands,
        w.address is not null as was_ordered, coalesce(w.is_open, false) as is_open, w.generation, w.until,
        w.ordered_until, w.ordered_at, w.user_name, w.error_text
      from wanted w full join actual a on a.address = w.address
    ), judged as (
      select c.*, list.name, list.target_id, list.asked_at,
        case
          when stands and not was_ordered then 'foreign'
          when stands and not is_open then 'leftOpen'
          when is_open and not stands and until > list.answered_at then 'missing'
          when stands and is_open and late_seconds > ${lateSeconds} then 'tooLong'
          when stands and is_open and early_seconds > ${earlySeconds}
            and remaining_seconds < ${renewedSeconds} then 'tooShort'
        end as kind,
        case when late_seconds > 0 then late_seconds else early_seconds end as wrong_seconds
      from compared c cross join list
      cross join lateral (
        select extract(epoch from list.asked_at - until)
            + case when list.expiry = 'native' and remaining_seconds > 0 then remaining_seconds else 0 end
            + case when list.expiry = 'native' and remaining_seconds = 0 then 'infinity'::float8 else 0 end
            as late_seconds,
          case when list.expiry = 'native'
            then extract(epoch from ordered_until - list.answered_at) - remaining_seconds end as early_seconds
      ) ends
    )
    select kind, name as list, target_id, ${plainAddress} as address, generation, nullif(user_name, '') as user_name,
      case when kind <> 'foreign' then ordered_at end as since, error_text,
      case when kind in ('tooLong', 'tooShort') and wrong_seconds < 1e9 then ceil(wrong_seconds)::integer end
        as wrong_seconds
    from judged where kind is not null
    order by address limit ${limit}`.execute(db)
  return rows
}

/** A single address without its prefix length, a network with it. */
const plainAddress = sql<string>`case when masklen(address) = case family(address) when 4 then 32 else 128 end
  then host(address) else text(address) end`
