import { generateSecret, verifySync } from 'otplib'

/** Seconds that one code is shown (RFC 6238 "X"). */
const stepSeconds = 30

/** Steps that a device's clock may be off, to either side (RFC 6238 §5.2). */
const stepsOff = 1

/** A new seed: 20 random bytes in base32, as long as the hash that uses it (RFC 4226 §4 R6). */
export const newSeed = (): string => generateSecret({ length: 20 })

/**
 * The step whose code was typed, at most one before or after the present one and later than the last one used; the
 * caller stores it, so that a code opens once.
 *
 * @returns undefined when it is no step's code. RFC 6238 with SHA-1 and six digits.
 */
export function findStep({
  seed,
  code,
  epochSeconds,
  lastStep,
}: {
  /** Base32. */
  seed: string
  /** Six digits. */
  code: string
  epochSeconds: number
  /** null = none was used yet. */
  lastStep: number | null
}): number | undefined {
  const newest = Math.floor(epochSeconds / stepSeconds) + stepsOff
  // The clock was set back: every step in reach is used. The library would throw.
  if (lastStep !== null && lastStep >= newest) return undefined
  const result = verifySync({
    secret: seed,
    token: code,
    epoch: epochSeconds,
    epochTolerance: stepsOff * stepSeconds,
    ...(lastStep !== null && { afterTimeStep: lastStep }),
  })
  return result.valid && 'timeStep' in result ? result.timeStep : undefined
}

/**
 * What the QR code says. Everything is spelled out although it is the default, and a colon in the name is escaped,
 * because the first one ends the issuer.
 *
 * @see https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export function toOtpauthUrl({ userName, seed }: { userName: string; seed: string }): string {
  const issuer = 'Knoc'
  return (
    `otpauth://totp/${issuer}:${encodeURIComponent(userName)}` +
    `?secret=${seed}&issuer=${issuer}&algorithm=SHA1&digits=6&period=${stepSeconds}`
  )
}
