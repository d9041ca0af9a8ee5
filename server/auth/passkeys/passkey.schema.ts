import { z } from 'zod'

/** Bytes as WebAuthn's JSON has them (base64url), so many characters of it at most. */
const bytes = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[\w-]*$/)

/** A credential's id: 1023 bytes at most (WebAuthn Level 3 §5.1). */
const credentialId = bytes(1_364).min(1)

/** What both answers of a browser have; parsed they are the library's own types. Unknown members are dropped: password managers add their own. */
const credential = { id: credentialId, rawId: credentialId, type: z.literal('public-key') }

const registrationResponse = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: bytes(8_192),
      attestationObject: bytes(32_768),
      transports: z.array(z.string().max(32)).max(16).optional(),
    }),
  })
  .transform(({ response: { transports, ...response }, ...rest }) => ({
    ...rest,
    response: { ...response, ...(transports && { transports }) },
    clientExtensionResults: {},
  }))

const authenticationResponse = z
  .object({
    ...credential,
    response: z.object({
      clientDataJSON: bytes(8_192),
      authenticatorData: bytes(8_192),
      signature: bytes(8_192),
      userHandle: bytes(128).nullish(),
    }),
  })
  .transform(({ response: { userHandle, ...response }, ...rest }) => ({
    ...rest,
    response: { ...response, ...(typeof userHandle === 'string' && { userHandle }) },
    clientExtensionResults: {},
  }))

/** What a passkey is called by its owner. */
export const passkeyNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u)

/** POST …/options: nothing has to be told. */
export const passkeyOptionsSchema = z.strictObject({})

/** POST /api/login/passkey. */
export const passkeyLoginSchema = z.strictObject({
  Response: authenticationResponse,
  KioskMode: z.boolean().default(false),
})

/** POST /api/admin/login/passkey and the second step of both realms. */
export const passkeyProofSchema = z.strictObject({ Response: authenticationResponse })

/** POST …/passkeys. */
export const passkeyCreationSchema = z.strictObject({
  Name: passkeyNameSchema,
  Response: registrationResponse,
})

/** PUT …/passkeys/{id}. */
export const passkeyUpdateSchema = z.strictObject({ Name: passkeyNameSchema })

/** One passkey as its owner sees it. */
export type PasskeyRow = {
  ID: string
  Name: string
  CreatedAt: string
  LastUsedAt: string | null
}
