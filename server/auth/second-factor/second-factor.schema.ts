import { z } from 'zod'

/** A generator's code or a recovery code, however it is spelled. Portal §7 "Verify". */
export const codeSchema = z.string().trim().min(1).max(64)

/** The second step of a user. */
export const userVerifySchema = z.strictObject({ Code: codeSchema })

/** The second step of an administrator, who may also put the enrolment off. */
export const adminVerifySchema = z
  .strictObject({ Code: codeSchema.optional(), deferEnrolment: z.literal(true).optional() })
  .refine(({ Code, deferEnrolment }) => (Code === undefined) !== (deferEnrolment === undefined), {
    path: ['Code'],
  })

/** What the second step may be made with. */
export type OtpMethods = {
  /** verify: a code or a passkey is asked for; enrol: a secret can be set up; none: there is nothing to do. */
  Step: 'verify' | 'enrol' | 'none'
  /** A generator is set up. */
  Totp: boolean
  Passkey: boolean
  /** Enrolment may be put off. */
  Deferable: boolean
  RecoveryCodesLeft: number
}

/** A secret that is being set up. */
export type OtpSecret = {
  /** Base32, to be typed. */
  Secret: string
  /** otpauth://, for the QR code. */
  URL: string
}

/** What an enrolment answers; shown this once. */
export type OtpEnrolled = { RecoveryCodes: string[] }
