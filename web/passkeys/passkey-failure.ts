import type { TextKey } from '../i18n/texts.ts'

/** The browser, its dialog or the authenticator gave no answer; `key` is the text that says why. */
export class CeremonyFailure extends Error {
  readonly key: TextKey

  constructor(cause: unknown) {
    const key = toFailureKey(cause)
    super(key, { cause })
    this.name = 'CeremonyFailure'
    this.key = key
  }
}

/** An error as it can be shown: the server's refusal as it is, the browser's in the reader's language. */
export const toShownError = (error: unknown, t: (key: TextKey) => string): unknown =>
  error instanceof CeremonyFailure ? new Error(t(error.key), { cause: error }) : error

/** Names of the errors that browsers throw, and what they tell a person. WebAuthn Level 3 §5.1.3, §5.1.4. */
const keys = new Map<string, TextKey>([
  ['NotAllowedError', 'passkeys.cancelled'],
  ['AbortError', 'passkeys.cancelled'],
  ['InvalidStateError', 'err.passkeyKnown'],
  ['SecurityError', 'err.passkeysUnavailable'],
  ['NotSupportedError', 'passkeys.unsupported'],
  ['ConstraintError', 'passkeys.unsupported'],
])

/** The text for an error of the browser; the library puts its own around it, with the browser's as the cause. */
export function toFailureKey(error: unknown): TextKey {
  const cause = error instanceof Error ? error.cause : undefined
  const names = [cause, error].map((one) => (one instanceof Error ? one.name : ''))
  return names.map((name) => keys.get(name)).find((key) => key !== undefined) ?? 'passkeys.failed'
}
