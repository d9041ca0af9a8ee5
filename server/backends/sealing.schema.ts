/**
 * How a secret travels to the one agent that may read it; the server seals, the agent opens (decision 15).
 *
 * A sealed value is base64 of `enc || ciphertext`: HPKE (RFC 9180), base mode, DHKEM(X25519, HKDF-SHA256) = 0x0020,
 * HKDF-SHA256 = 0x0001, AES-256-GCM = 0x0002, one message, `info` = sealBindingText(…) in UTF-8, `aad` empty
 * (RFC 9180 §8.1: one message, so everything is bound by info). `enc` is the first 32 bytes, the tag the last 16;
 * the plain value is UTF-8 text. The recipient's key is the X25519 key of the agent's enrolment.
 *
 * In a target's `sealed` the key is the field's path: `backend.Bearer`, `list.EnvVars.TOKEN`.
 */

/** What a sealed value is for. The agent rebuilds it from the order and refuses a value made for anything else. */
export type SealBinding = {
  agentId: string
  backendId: string
  /** Kind of the backend, e.g. `fortios`. */
  type: string
  /** Where the secret will be shown: see {@link deviceOf}. */
  device: string
  /** Whether the device's certificate is not checked: see {@link isInsecure}. */
  insecure: boolean
  /** Path of the field, as in a target's `sealed`. */
  field: string
}

/** HPKE's `info`: JSON with these keys in this order and no spaces, ids in lower case. */
export const sealBindingText = (binding: SealBinding): string =>
  JSON.stringify({
    knoc: 'seal-v1',
    agentId: binding.agentId.toLowerCase(),
    backendId: binding.backendId.toLowerCase(),
    device: binding.device,
    field: binding.field,
    insecure: binding.insecure,
    type: binding.type,
  })

/** Fields of a backend that say which device it is; a kind has at most one of them. */
const deviceFields = ['Hostname', 'Url', 'Address', 'WebhookUrl'] as const

/** The device's address in a backend's plain settings, exactly as written; '' for what runs on the agent's host. */
export function deviceOf(backend: Readonly<Record<string, unknown>>): string {
  const value = deviceFields.map((name) => backend[name]).find((text) => typeof text === 'string')
  return typeof value === 'string' ? value : ''
}

/** Whether a backend's plain settings switch the check of the device's certificate off. */
export const isInsecure = (backend: Readonly<Record<string, unknown>>): boolean =>
  backend['Insecure'] === true

/** Path of a backend's secret field. */
export const backendField = (name: string): string => `backend.${name}`

/** Path of a list's secret variable. */
export const listVariable = (name: string): string => `list.EnvVars.${name}`

/** Sealed values by path. */
export type Sealed = Record<string, string>
