import { describe, expect, it } from 'vitest'
import { ApiFailure } from '../api.ts'
import { CeremonyFailure, toFailureKey, toShownError } from './passkey-failure.ts'

/** As the library hands a browser's error on. */
const wrapped = (name: string) =>
  Object.assign(new Error('of the library', { cause: Object.assign(new Error(), { name }) }), { name })

describe('what a browser says of a passkey', () => {
  it.each([
    ['NotAllowedError', 'passkeys.cancelled'],
    ['AbortError', 'passkeys.cancelled'],
    ['InvalidStateError', 'err.passkeyKnown'],
    ['SecurityError', 'err.passkeysUnavailable'],
    ['NotSupportedError', 'passkeys.unsupported'],
    ['ConstraintError', 'passkeys.unsupported'],
    ['UnknownError', 'passkeys.failed'],
    ['toString', 'passkeys.failed'],
  ])('reads %s as %s, by itself and within the library’s error', (name, key) => {
    expect(toFailureKey(Object.assign(new Error(), { name }))).toBe(key)
    expect(toFailureKey(wrapped(name))).toBe(key)
  })

  it('reads what is no error at all as a failure', () => {
    expect([null, undefined, 'text'].map(toFailureKey)).toEqual(Array(3).fill('passkeys.failed'))
  })

  it('is shown in the reader’s language; the server’s refusals stay as they are', () => {
    const failure = toShownError(new CeremonyFailure(wrapped('NotAllowedError')), (key) => `text of ${key}`)
    expect((failure as Error).message).toBe('text of passkeys.cancelled')
    const refusal = new ApiFailure({ status: 422, code: 'err.invalidPasskey' })
    expect(toShownError(refusal, () => '')).toBe(refusal)
  })
})
