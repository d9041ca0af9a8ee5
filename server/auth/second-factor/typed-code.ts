import { randomBytes } from 'node:crypto'

/** Crockford's base32: no I, L, O, U, so that nothing read from paper is doubtful. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const foreignCharacter = new RegExp(`[^${alphabet}]`)

/** Characters of a recovery code, 5 bits each: 80 random bits. */
const recoveryLength = 16

/** Recovery codes that an enrolment gives. */
const recoveryCount = 10

/** What somebody typed into the field for the code. */
export type TypedCode =
  | { kind: 'totp'; code: string }
  /** In its one spelling: capitals, no groups. */
  | { kind: 'recovery'; code: string }
  /** Neither can be meant. */
  | { kind: 'unknown' }

/**
 * Reads the field in which both codes are taken: case, spaces and dashes don't matter, and of what looks alike
 * (I, L and 1, O and 0) either is taken.
 */
export function parseTypedCode(text: string): TypedCode {
  const code = text.normalize('NFKC').replace(/[\s\p{Pd}]/gu, '')
  if (/^\d{6}$/.test(code)) return { kind: 'totp', code }
  const spelled = code.toUpperCase().replace(/[IL]/g, '1').replace(/O/g, '0')
  const isRecovery = spelled.length === recoveryLength && !foreignCharacter.test(spelled)
  return isRecovery ? { kind: 'recovery', code: spelled } : { kind: 'unknown' }
}

/** New recovery codes, in their one spelling; `formatRecoveryCode` is what people see. */
export const newRecoveryCodes = (): string[] => Array.from({ length: recoveryCount }, newRecoveryCode)

/** Four groups of four, to be written down. */
export const formatRecoveryCode = (code: string): string => code.replace(/(.{4})(?=.)/g, '$1-')

// A byte has 256 values, eight times the alphabet: every character is as likely as another.
const newRecoveryCode = (): string =>
  [...randomBytes(recoveryLength)].map((byte) => alphabet[byte % alphabet.length]).join('')
