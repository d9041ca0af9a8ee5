import { type Kysely, sql } from 'kysely'
import type { DB } from '../platform/database.types.ts'
import type { ListingAnswer, ListingPage } from './link-listings.ts'

/** A validation that waits for its agent's answers. */
export type ValidationRequest = {
  id: string
  agentId: string
  targetIds: string[]
  /** Time it still has. */
  withinMs: number
}

/** Takes the validations that wait for agents whose links this replica holds; nobody else takes them then. */
export async function takeValidations(
  db: Kysely<DB>,
  links: readonly { agentId: string; linkEpoch: number }[],
): Promise<ValidationRequest[]> {
  const { rows } = await sql<ValidationRequest>`
    update validations v set taken_at = clock_timestamp()
    from unnest(
      ${links.map((link) => link.agentId)}::uuid[], ${links.map((link) => link.linkEpoch)}::bigint[]
    ) as l (agent_id, link_epoch)
    join agents a on a.id = l.agent_id and a.link_epoch = l.link_epoch
    where v.agent_id = a.id and v.taken_at is null and v.expires_at > clock_timestamp()
    returning v.id, v.agent_id, v.target_ids,
      (extract(epoch from v.expires_at - clock_timestamp()) * 1000)::integer as within_ms`.execute(db)
  return rows
}

/** Keeps a page of what stands on a list, unless whoever asked is gone. */
export async function saveListingPage(
  db: Kysely<DB>,
  { validationId, targetId }: { validationId: string; targetId: string },
  page: ListingPage,
): Promise<void> {
  await sql`
    insert into validation_entries (validation_id, target_id, address, remaining_seconds)
    select v.id, ${targetId}, p.address, p.remaining_seconds
    from (select id from validations where id = ${validationId} for key share) v
    cross join unnest(
      ${page.map((entry) => entry.address)}::inet[], ${page.map((entry) => entry.remainingSeconds)}::integer[]
    ) as p (address, remaining_seconds)
    on conflict do nothing`.execute(db)
}

/** A list is answered: what was kept of it is all there is. */
export async function saveListing(
  db: Kysely<DB>,
  { validationId, targetId }: { validationId: string; targetId: string },
  { state, error, askedAtMs, answeredAtMs }: ListingAnswer,
): Promise<void> {
  await sql`
    insert into validation_lists (validation_id, target_id, state, error, asked_at, answered_at)
    select v.id, ${targetId}, ${state}, ${error}, ${new Date(askedAtMs).toISOString()}::timestamptz,
      ${new Date(answeredAtMs).toISOString()}::timestamptz
    from (select id from validations where id = ${validationId} for key share) v
    on conflict do nothing`.execute(db)
}

/** No more answers come; `refusal` says why, where it is not that the time was over. */
export async function finishValidation(
  db: Kysely<DB>,
  id: string,
  refusal: 'tooOld' | 'linkLost' | null,
): Promise<void> {
  await sql`
    update validations set finished_at = clock_timestamp(), refusal = ${refusal} where id = ${id}`.execute(db)
}
