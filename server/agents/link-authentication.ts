import type { Kysely } from 'kysely'
import { z } from 'zod'
import { linkHeaders, linkSignatureText, protocolVersions } from '#machines/protocol.ts'
import { writeAudit } from '../audit/audit.store.ts'
import type { ErrorCode } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import type { DB } from '../platform/database.types.ts'
import type { Sealer } from '../platform/secrets.ts'
import { isSignedBy } from './agent-keys.ts'
import { findPinnedAgent, raiseConflict, useNonce } from './identity.store.ts'
import { readNonce } from './link-nonce.ts'

/**
 * Why a link is refused, and the code its upgrade is answered with (the status is the catalogue's).
 *
 * Only `unknownAgent` makes an agent close everything it holds, so it is said to one that is deleted or was let go
 * by a new token, and to nobody else; a wrong signature may be no more than a changed public URL.
 */
export const linkRefusals = {
  badRequest: 'err.badRequest',
  unsupportedProtocol: 'err.unsupportedProtocol',
  unknownAgent: 'err.agentUnknown',
  staleNonce: 'err.invalidToken',
  badSignature: 'err.invalidToken',
  conflict: 'err.agentConflict',
} as const satisfies Record<string, ErrorCode>
type LinkRefusal = keyof typeof linkRefusals

/** Who opens a link, or why not. `protocol` is what the agent speaks; at least one version is common. */
export type LinkVerdict =
  | { agentId: string; protocol: { min: number; max: number } }
  | { refused: LinkRefusal }

/**
 * Decides whether an upgrade request comes from the agent it names: our nonce, fresh and never used before,
 * signed with the pinned key for this server and this machine (decision 27, 29). Called before any frame.
 *
 * A second machine with the same key is a clone: the enrolled machine keeps the link, the clone is refused and an
 * alarm is raised.
 */
export async function authenticateLink(
  { db, sealer, server }: { db: Kysely<DB>; sealer: Sealer; server: string },
  headers: Headers,
): Promise<LinkVerdict> {
  const read = headersSchema.safeParse(
    Object.fromEntries(Object.entries(linkHeaders).map(([name, header]) => [name, headers.get(header)])),
  )
  if (!read.success) return { refused: 'badRequest' }
  const { nonce, protocol, machine: machineId, signature } = read.data
  const agentId = read.data.agent.toLowerCase()
  const range = toRange(protocol)
  if (range === undefined) return { refused: 'badRequest' }
  if (range.max < protocolVersions.min || range.min > protocolVersions.max)
    return { refused: 'unsupportedProtocol' }
  const drawnAtUs = readNonce(sealer, agentId, nonce)
  if (drawnAtUs === undefined) return { refused: 'staleNonce' }

  const pinned = await findPinnedAgent(db, agentId)
  if (pinned === undefined || pinned.publicKey === null) return { refused: 'unknownAgent' }
  const text = linkSignatureText({ server, nonce, agentId: read.data.agent, machineId, protocol })
  if (!isSignedBy(pinned.publicKey, text, signature)) return { refused: 'badSignature' }
  if (!(await useNonce(db, { agentId, publicKey: pinned.publicKey, drawnAtUs })))
    return { refused: 'staleNonce' }
  if (machineId !== pinned.machineId) {
    await alarm(db, { agentId, name: pinned.name })
    return { refused: 'conflict' }
  }
  return { agentId, protocol: range }
}

const headersSchema = z.object({
  agent: z.uuid(),
  nonce: z.string().max(128),
  protocol: z.string().max(16),
  machine: z.string().min(1).max(128),
  signature: z.base64().max(128),
})

function toRange(text: string): { min: number; max: number } | undefined {
  const [, min, max] = /^([1-9]\d{0,5})-([1-9]\d{0,5})$/.exec(text) ?? []
  if (min === undefined || max === undefined || Number(min) > Number(max)) return undefined
  return { min: Number(min), max: Number(max) }
}

/** Raises the alarm that two processes of one machine have an agent's identity: a copy of its data folder runs. */
export async function alarmOfCopy(db: Kysely<DB>, agentId: string): Promise<void> {
  const pinned = await findPinnedAgent(db, agentId)
  if (pinned !== undefined) await alarm(db, { agentId, name: pinned.name })
}

async function alarm(db: Kysely<DB>, { agentId, name }: { agentId: string; name: string }): Promise<void> {
  await inTransaction(db, async (tx) => {
    if (await raiseConflict(tx, agentId))
      await writeAudit(tx, [{ kind: 'AgentConflict', fields: { AgentName: name }, detail: { agentId } }])
  })
}
