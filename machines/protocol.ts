import { z } from 'zod'

/**
 * The wire between an agent and the server: JSON text frames on one WebSocket, opened by the agent.
 *
 * Both ends parse with these schemas; a frame that does not fit ends the link with close code 4400.
 * The agent is authenticated by the upgrade request (see agentHello headers below), before any frame.
 * Design §2 and decisions 7, 10, 19, 22, 29.
 */

/**
 * Protocol versions this build speaks; the highest both ends know is used, and no frame of a younger one is sent.
 * 2 added listingRequest and listing, 3 refresh and refreshed.
 */
export const protocolVersions = { min: 1, max: 3 } as const

/** Limits both ends keep. Frames in bytes, intervals in milliseconds. */
export const linkLimits = {
  frameBytes: 1_048_576,
  batchOrders: 500,
  batchesInFlight: 4,
  bufferedBytes: 1_048_576,
  heartbeatMs: 2_000,
  deadAfterMs: 6_000,
  offlineAfterMs: 5_000,
  reconnectMaxMs: 15_000,
  digestBuckets: 256,
  /** Entries of one listing frame, and frames of one listing: a longer list is answered as failed. */
  listingEntries: 1_000,
  listingFrames: 256,
} as const

/** Why a link was closed, as WebSocket close codes of the private range. */
export const closeCodes = {
  badFrame: 4400,
  unknownAgent: 4401,
  conflict: 4409,
  unsupportedProtocol: 4426,
  superseded: 4410,
  moving: 4412,
} as const

const instantMs = z.number().int().nonnegative()
const address = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])

/** When the server has been silent for `afterSeconds`, the entry stands no longer than `untilMs`. */
export const silenceSchema = z.object({
  afterSeconds: z.number().int().min(30).max(3600),
  /** Latest end among holders that keep their door through a silence; 0 when none does. */
  untilMs: instantMs,
})

/** One order: what one address on one target is to be. The newest generation wins. */
export const orderSchema = z.object({
  targetId: z.uuid(),
  address,
  generation: z.number().int().positive(),
  desired: z.enum(['open', 'closed']),
  /** Absolute end by the server's clock; 0 on a close. */
  untilMs: instantMs,
  silence: silenceSchema.nullable(),
  /** End live connections when the entry goes. */
  cut: z.boolean(),
  /** Who opened it, for scripts and for devices that attribute entries. */
  userName: z.string().max(256),
})
export type Order = z.infer<typeof orderSchema>

/** A list on an enforcement point, sent before the first order that names it. Immutable. */
export const targetSchema = z.object({
  id: z.uuid(),
  /** Canonical key, the same for everybody who means the same list: `ipset:allowed_ssh`. */
  key: z.string().min(1).max(512),
  type: z.string().min(1).max(64),
  /** 4 or 6 where the list holds one family only, else null. */
  family: z.union([z.literal(4), z.literal(6)]).nullable(),
  backendId: z.uuid(),
  /** Plain settings of the backend (no secrets). */
  backend: z.record(z.string(), z.unknown()),
  /** Plain settings of the list (no secrets). */
  list: z.record(z.string(), z.unknown()),
  /** Sealed to this agent's X25519 key: field path → sealed value. */
  sealed: z.record(z.string(), z.string()),
  foreignEntries: z.enum(['report', 'remove']),
})
export type TargetDescription = z.infer<typeof targetSchema>

const ipsetCapability = z.object({
  command_available: z.boolean(),
  sudo_enabled: z.boolean(),
  /** How changes are made: root, CAP_NET_ADMIN, an exact sudo line, or none. */
  privilege: z.enum(['root', 'capability', 'sudo', 'none']),
  ipsets: z
    .array(
      z.object({
        name: z.string().max(64),
        address_family: z.enum(['inet', 'inet6']),
        /** False when the set was made without `timeout`: it can't hold ends. */
        timeouts: z.boolean(),
        /** Rules and sets that use it; 0 means the set protects nothing. */
        references: z.number().int().nonnegative(),
        /**
         * What ends established flows when an address leaves the set: its rule, which stands before the one for
         * established connections; `ss -K`, where this host owns the sockets; `conntrack -D`; or nothing.
         */
        cut: z.enum(['rules', 'sockets', 'conntrack', 'none']).optional(),
      }),
    )
    .max(256),
})

/** What the agent's host can enforce, as the console shows it. Console §3, spec README "Capabilities". */
export const capabilitiesSchema = z.object({
  'os-release': z.object({ NAME: z.string().max(128), VERSION: z.string().max(128) }).nullable(),
  ipset: ipsetCapability,
  haproxy: z.object({ socket_location: z.string().max(256) }).nullable(),
  script: z.object({ enabled: z.boolean(), commands: z.array(z.string().max(256)).max(256) }),
})
export type Capabilities = z.infer<typeof capabilitiesSchema>

/** How one order ended on the enforcement point. */
export const resultSchema = z.object({
  targetId: z.uuid(),
  address,
  generation: z.number().int().positive(),
  outcome: z.enum(['verified', 'reported', 'failed']),
  /** When it was seen, by the agent's corrected clock. */
  atMs: instantMs,
  /** Catalogue-like word for the kind of failure, and the driver's last line for the admin. */
  error: z.object({ code: z.string().max(64), text: z.string().max(1000) }).nullable(),
})
export type OrderResult = z.infer<typeof resultSchema>

/** Something on the enforcement point that nobody ordered, or that went missing; already repaired or not. */
export const driftSchema = z.object({
  targetId: z.uuid(),
  kind: z.enum(['missing', 'foreign', 'wrongEnd', 'listGone', 'listBack']),
  count: z.number().int().positive(),
  sample: z.array(z.string().max(64)).max(10),
  repaired: z.boolean(),
})
export type DriftReport = z.infer<typeof driftSchema>

/** A target's last look: what should stand there and what does. */
export const targetReportSchema = z.object({
  targetId: z.uuid(),
  checkedAtMs: instantMs,
  desired: z.number().int().nonnegative(),
  actual: z.number().int().nonnegative(),
  foreign: z.number().int().nonnegative(),
  error: z.string().max(1000).nullable(),
})

/**
 * A piece of what stands on a target's list, whoever put it there; asked for by `listingRequest`. Protocol 2.
 * `checkedAtMs` is when the agent began to read the list, by its corrected clock.
 */
const listingSchema = z.object({
  type: z.literal('listing'),
  request: z.number().int().nonnegative(),
  targetId: z.uuid(),
  checkedAtMs: instantMs,
  /** `unlistable`: nobody can look into it (scripts). `failed`: it could not be read now; `error` says why. */
  state: z.enum(['listed', 'unlistable', 'failed']),
  error: z.string().max(1000).nullable(),
  /** 0 seconds: it has no end there. */
  entries: z
    .array(z.object({ address, remainingSeconds: z.number().int().min(0).max(4_294_967) }))
    .max(linkLimits.listingEntries),
  last: z.boolean(),
})

/**
 * Digests: an entry's bucket is the first byte of md5(address); a bucket's digest is the XOR, over the target's
 * entries whose newest order is `open`, of the first 64 bits of md5(`address|generation`). Addresses are in
 * canonical text (PostgreSQL's host()). The server computes it in SQL, the agent over its journal; a test holds
 * the two together.
 */
export const digestText = (address: string, generation: number): string => `${address}|${generation}`

/** Frames the agent sends. */
export const agentFrameSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    protocol: z.object({ min: z.number().int().positive(), max: z.number().int().positive() }),
    version: z.string().max(32),
    machineId: z.string().min(1).max(128),
    bootId: z.string().max(64),
    nowMs: instantMs,
    /** The epoch its journal belongs to; null for an empty or unreadable journal. */
    epoch: z.string().max(64).nullable(),
    highestGeneration: z.number().int().nonnegative(),
    capabilities: capabilitiesSchema,
  }),
  z.object({ type: z.literal('heartbeat'), nowMs: instantMs }),
  /** The batch is in the journal: nothing in it can be lost any more. */
  z.object({ type: z.literal('journalled'), batch: z.number().int().nonnegative() }),
  z.object({ type: z.literal('results'), results: z.array(resultSchema).max(1000) }),
  z.object({
    type: z.literal('digest'),
    request: z.number().int().nonnegative(),
    targetId: z.uuid(),
    /** 256 values, hex of 64 bits, one per address bucket; see digestText. */
    buckets: z.array(z.string().regex(/^[0-9a-f]{16}$/)).length(256),
  }),
  z.object({ type: z.literal('capabilities'), capabilities: capabilitiesSchema }),
  z.object({ type: z.literal('drift'), drifts: z.array(driftSchema).max(100) }),
  z.object({ type: z.literal('targetReports'), reports: z.array(targetReportSchema).max(500) }),
  listingSchema,
  /**
   * The device was told to fetch its list, and took the order; or why not. Of several refreshes that came while one
   * was under way only the newest is answered. Protocol 3.
   */
  z.object({
    type: z.literal('refreshed'),
    targetId: z.uuid(),
    generation: z.number().int().positive(),
    atMs: instantMs,
    error: z.object({ code: z.string().max(64), text: z.string().max(1000) }).nullable(),
  }),
])
export type AgentFrame = z.infer<typeof agentFrameSchema>

/** Frames the server sends. */
export const serverFrameSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    protocol: z.number().int().positive(),
    serverVersion: z.string().max(32),
    epoch: z.string().max(64),
    linkEpoch: z.number().int().positive(),
    nowMs: instantMs,
    truthAtMs: instantMs,
    /** False for an agent below the minimum version: it may close only. */
    mayOpen: z.boolean(),
    /** Every target this agent is responsible for, draining ones included; others are forgotten once empty. */
    targets: z.array(targetSchema).max(2000),
  }),
  z.object({
    type: z.literal('heartbeat'),
    nowMs: instantMs,
    /** Last good read of this agent's state from the writable database. */
    truthAtMs: instantMs,
  }),
  z.object({ type: z.literal('targets'), targets: z.array(targetSchema).max(2000) }),
  z.object({
    type: z.literal('orders'),
    batch: z.number().int().nonnegative(),
    nowMs: instantMs,
    orders: z.array(orderSchema).max(500),
  }),
  z.object({ type: z.literal('digestRequest'), request: z.number().int().nonnegative(), targetId: z.uuid() }),
  /** What stands on a target's list now? Answered by `listing`. Protocol 2. */
  z.object({
    type: z.literal('listingRequest'),
    request: z.number().int().nonnegative(),
    targetId: z.uuid(),
  }),
  /**
   * The whole truth of some buckets of a target: what is not listed there is closed.
   * Sent in pieces; the agent acts when the last piece of a batch is there.
   */
  z.object({
    type: z.literal('buckets'),
    batch: z.number().int().nonnegative(),
    nowMs: instantMs,
    targetId: z.uuid(),
    buckets: z.array(z.number().int().min(0).max(255)).max(256),
    /** Highest generation handed out when the state was read: a younger entry in the journal is left alone. */
    asOfGeneration: z.number().int().nonnegative(),
    entries: z.array(orderSchema).max(1000),
    last: z.boolean(),
  }),
  /**
   * Tell the target's device to fetch its list now: something on it changed, lately under this generation. The list
   * itself is read from the server. Answered by `refreshed`; may be sent again. Protocol 3, "Passive+".
   */
  z.object({ type: z.literal('refresh'), targetId: z.uuid(), generation: z.number().int().positive() }),
  /** Open a new link elsewhere, after a wait, then drop this one. */
  z.object({ type: z.literal('move'), afterMs: z.number().int().min(0).max(15_000) }),
])
export type ServerFrame = z.infer<typeof serverFrameSchema>

/**
 * POST /api/agent/enrol: the token is good once; the first key pair that brings it is the agent's for good.
 * Answer: `{data: {AgentID}}`. The same token with the same keys answers the same again (a lost reply).
 */
export const enrolSchema = z.strictObject({
  Token: z.string().min(20).max(200),
  /** Ed25519 public key, SPKI DER in base64. */
  PublicKey: z.base64().max(200),
  /** X25519 public key, SPKI DER in base64, for sealed credentials. */
  SealingKey: z.base64().max(200),
  MachineID: z.string().min(1).max(128),
  Version: z.string().max(32),
})
export type EnrolRequest = z.infer<typeof enrolSchema>

/** POST /api/agent/challenge `{AgentID}` → `{data: {Nonce, Server}}`; good for 30 s, for one hello. */
export const challengeSchema = z.strictObject({ AgentID: z.uuid() })

/**
 * GET /api/agent/link, the upgrade: the headers that authenticate it, all required.
 * The signature is Ed25519 over `linkSignatureText`, in base64.
 */
export const linkHeaders = {
  agent: 'x-knoc-agent',
  nonce: 'x-knoc-nonce',
  protocol: 'x-knoc-protocol',
  machine: 'x-knoc-machine',
  signature: 'x-knoc-signature',
} as const

/** What the agent signs: bound to the server it means, the nonce, its id, machine and protocol range. */
export const linkSignatureText = (parts: {
  server: string
  nonce: string
  agentId: string
  machineId: string
  protocol: string
}): string =>
  ['knoc-link-v1', parts.server, parts.nonce, parts.agentId, parts.machineId, parts.protocol].join('\n')

/** `x-knoc-protocol`: "1-2". */
export const protocolRangeText = (range: { min: number; max: number }): string => `${range.min}-${range.max}`
