import { findApiKey } from '../api-keys/api-key.query.ts'
import { recordKeyUse } from '../api-keys/user-key.service.ts'
import type { AuditEvent } from '../audit/audit.events.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import type { ClientAddress } from '../platform/http/client-address.ts'
import { hashToken } from '../platform/random.ts'
import {
  type Allowlist,
  findAllowlist,
  hasRead,
  type ListReading,
  listSessionsOf,
  readList,
} from './allowlist.query.ts'
import { noteReading } from './allowlist.store.ts'
import { findListRefusal, type ListReader, listRefusals } from './allowlist-access.ts'
import { isNoneMatch, type ListBody, type ListFormat, toListBody } from './allowlist-body.ts'

type ListDeps = Pick<Deps, 'db' | 'events'>

/** A request for a list, as it came. */
export type ListRequest = {
  aclId: string
  token: string
  format: ListFormat
  /** The key that was shown, undefined when none was. */
  presented: string | undefined
  client: ClientAddress
  ifNoneMatch: string | undefined
  /** A look at the headers alone carries no list: it changes nothing. */
  isHead: boolean
  requestId: string | null
}

/** What is answered: the list, or that the reader has it already; and when it was so, by the database's clock. */
export type ListAnswer = { body: ListBody; isKnown: boolean; at: Date }

/**
 * Reads a passive list for a firewall, and notes it before it is given away: a grant whose address somebody got is
 * never shown as unread, and one that is shown as gone was left out of what somebody got.
 *
 * @throws err.notFound, err.invalidApiKey, err.proxyNotTrusted, err.addressNotAllowed; whatever else goes wrong is no
 * answer about the list at all.
 */
export async function readAllowlist({ db, events }: ListDeps, request: ListRequest): Promise<ListAnswer> {
  const { list, consumer } = await admitReader({ db }, request)
  const reading = await readList(db.lists, list, consumer.id)
  const body = toListBody(reading.entries, request.format)
  const isKnown = isNoneMatch(request.ifNoneMatch, body.etag)
  if (!request.isHead) await note({ db, events }, { request, list, consumer, reading })
  return { body, isKnown, at: reading.at }
}

/** Who reads: a key by its id, else an address. */
type Consumer = { id: string; keyName: string | null }

async function admitReader(
  { db }: Pick<Deps, 'db'>,
  { aclId, token, presented, client }: ListRequest,
): Promise<{ list: Allowlist; consumer: Consumer }> {
  const list = await findAllowlist(db.lists, aclId)
  const key = list === undefined || presented === undefined ? null : await findKey(db.lists, list, presented)
  const refusal = findListRefusal(list, { token, client, key })
  if (refusal !== undefined || list === undefined) {
    const reason = refusal ?? 'unknownList'
    const extra = {
      foreignAddress: { extra: client.address },
      untrustedProxy: { extra: String(client.viaUntrustedProxy) },
    }
    throw apiError(listRefusals[reason], { detail: reason, ...extra[reason as keyof typeof extra] })
  }
  const facts = list.settings.AllowAccessByIp ? undefined : key?.facts
  return {
    list,
    consumer: facts ? { id: facts.id, keyName: facts.name } : { id: client.address, keyName: null },
  }
}

async function findKey(
  db: Deps['db']['lists'],
  list: Allowlist,
  presented: string,
): Promise<ListReader['key']> {
  const facts = await findApiKey(db, hashToken(presented))
  return { facts, hasRead: facts !== undefined && (await hasRead(db, list.id, facts.id)) }
}

type Read = { request: ListRequest; list: Allowlist; consumer: Consumer; reading: ListReading }

/** Nothing is written while the same reader gets the same list, but for a sign of life now and then. */
async function note({ db, events }: ListDeps, read: Read): Promise<void> {
  const { list, consumer, reading, request } = read
  const tag = toListBody(reading.entries, 'txt').etag
  const isNews = reading.lastTag !== tag
  if (!isNews && !reading.isDue && reading.unread.length === 0) return
  await noteReading(db.lists, {
    ...{ aclId: list.id, consumer: consumer.id, tag, at: reading.at, unread: reading.unread },
    useKey: consumer.keyName === null ? async () => undefined : recordKeyUse(consumer.id),
    audit: isNews ? [toAudit(read, tag)] : [],
    requestId: request.requestId,
  })
  const { unread } = reading
  const changed = unread.map(({ id }) => id)
  if (changed.length > 0) events.publish(await listSessionsOf(db.lists, list.id, changed))
}

/** A reader that gets what it had is no news: one event for each list it didn't have before. */
const toAudit = ({ request, list, consumer, reading }: Read, tag: string): AuditEvent => ({
  kind: 'AllowlistRetrieved',
  fields: {
    AclDescription: list.description,
    IpAddress: request.client.address,
    ...(consumer.keyName !== null && { Description: consumer.keyName }),
  },
  detail: {
    aclId: list.id,
    consumer: consumer.id,
    format: request.format,
    entries: reading.entries.length,
    etag: tag,
  },
})
