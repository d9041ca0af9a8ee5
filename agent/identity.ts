import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { linkHeaders, linkSignatureText, protocolRangeText, protocolVersions } from '#machines/protocol.ts'
import { createUnseal, type Unseal } from './unseal.ts'

const enrolmentSchema = z.strictObject({
  agentId: z.uuid(),
  /** What the server called itself at the first challenge; null before. */
  serverName: z.string().nullable(),
})

/** Who this agent is: its keys, its host, and its id once it is enrolled. */
export type Identity = {
  readonly machineId: string
  /** Public keys, SPKI DER in base64. */
  readonly publicKey: string
  readonly sealingKey: string
  /** Opens what the server sealed to that key. */
  readonly unseal: Unseal
  agentId: () => string | null
  noteEnrolled: (agentId: string) => void
  /**
   * The headers that authenticate an upgrade. `serverName` is what the challenge named.
   * @throws Error when the server calls itself otherwise than before: the signature would be good elsewhere.
   */
  linkHeaders: (challenge: { nonce: string; serverName: string }) => Record<string, string>
}

/**
 * Reads the identity of a data folder, or makes its keys. Private keys are 0600 and never leave the folder.
 * @throws Error when a key file can't be read; it is never silently replaced, sealed credentials hang on it.
 */
export function openIdentity(options: {
  dataFolder: string
  machineIdFile: string
  /** Origin of the configured server, always accepted as its name. */
  serverOrigin: string
  /** A further name the administrator accepts. */
  serverName: string | undefined
}): Identity {
  const file = (name: string) => join(options.dataFolder, name)
  mkdirSync(options.dataFolder, { recursive: true, mode: 0o700 })
  const signing = readOrCreateKey(file('agent-key.pem'), () => generateKeyPairSync('ed25519').privateKey)
  const sealing = readOrCreateKey(file('sealing-key.pem'), () => generateKeyPairSync('x25519').privateKey)
  const machineId = readMachineId(options.machineIdFile)
  let enrolment = readEnrolment(file('identity.json'))

  const save = (next: z.infer<typeof enrolmentSchema>) => {
    enrolment = next
    writeSafely(file('identity.json'), `${JSON.stringify(next, null, 2)}\n`)
  }

  const checkName = (serverName: string) => {
    const known = enrolment?.serverName ?? null
    if (serverName === known) return
    if (known !== null && serverName !== options.serverOrigin && serverName !== options.serverName) {
      throw new Error(
        `the server calls itself ${serverName}, before it was ${known}; ` +
          `if that is right, set "serverName": "${serverName}" in agent.json`,
      )
    }
    if (enrolment !== undefined) save({ ...enrolment, serverName })
  }

  return {
    machineId,
    publicKey: toSpki(signing),
    sealingKey: toSpki(sealing),
    unseal: createUnseal(sealing, () => enrolment?.agentId ?? null),
    agentId: () => enrolment?.agentId ?? null,
    noteEnrolled: (agentId) => save({ agentId, serverName: null }),
    linkHeaders: ({ nonce, serverName }) => {
      if (enrolment === undefined) throw new Error('not enrolled')
      checkName(serverName)
      const protocol = protocolRangeText(protocolVersions)
      const { agentId } = enrolment
      const text = linkSignatureText({ server: serverName, nonce, agentId, machineId, protocol })
      return {
        [linkHeaders.agent]: agentId,
        [linkHeaders.nonce]: nonce,
        [linkHeaders.protocol]: protocol,
        [linkHeaders.machine]: machineId,
        [linkHeaders.signature]: sign(null, Buffer.from(text), signing).toString('base64'),
      }
    },
  }
}

/**
 * The host's own identity, hashed for this purpose only. Not of the data folder: a copy of the folder on another
 * host must be told apart (decision 27). Hosts without a machine id are known by their name.
 */
export function readMachineId(path: string): string {
  const id = readIfThere(path)?.trim()
  const source = id === undefined || id === '' ? `host:${hostname()}` : `id:${id}`
  return createHash('sha256').update(`knoc-agent-machine-v1\n${source}`).digest('hex')
}

/** The enrolment of a data folder, for `status`. @throws Error when the file is damaged. */
export function readEnrolment(path: string): z.infer<typeof enrolmentSchema> | undefined {
  const text = readIfThere(path)
  return text === undefined ? undefined : enrolmentSchema.parse(JSON.parse(text))
}

function readOrCreateKey(path: string, create: () => KeyObject): KeyObject {
  const pem = readIfThere(path)
  if (pem !== undefined) return createPrivateKey(pem)
  const key = create()
  writeSafely(path, key.export({ format: 'pem', type: 'pkcs8' }))
  return key
}

/** Whole or not at all, whatever dies in the middle; 0600. */
function writeSafely(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const toSpki = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64')
