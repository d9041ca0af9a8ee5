import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import type { PasskeyRow } from '#server/auth/passkeys/passkey.schema.ts'
import { request } from '../api.ts'

/** Whose passkeys: each realm has calls of its own, under its own session. */
export type PasskeyRealm = 'user' | 'admin'

const base = { user: '/api', admin: '/api/admin' } as const

/** What the browser is to be asked when somebody signs in with a passkey alone, or as the second step. */
export const fetchProofOptions = (realm: PasskeyRealm, what: 'login' | 'otp') =>
  request<PublicKeyCredentialRequestOptionsJSON>('POST', `${base[realm]}/${what}/passkey/options`, {
    body: {},
  })

/** Signs in with a passkey alone; only the user realm has kiosk mode. */
export const login = (realm: PasskeyRealm, response: AuthenticationResponseJSON, kioskMode: boolean) =>
  request<null>('POST', `${base[realm]}/login/passkey`, {
    body: { Response: response, ...(realm === 'user' && { KioskMode: kioskMode }) },
  })

/** The second step of a half session. */
export const verifyStep = (realm: PasskeyRealm, response: AuthenticationResponseJSON) =>
  request<null>('POST', `${base[realm]}/otp/passkey`, { body: { Response: response } })

export const listPasskeys = (realm: PasskeyRealm, { signal }: { signal?: AbortSignal } = {}) =>
  request<PasskeyRow[]>('GET', `${base[realm]}/passkeys`, { signal })

export const fetchCreationOptions = (realm: PasskeyRealm) =>
  request<PublicKeyCredentialCreationOptionsJSON>('POST', `${base[realm]}/passkeys/options`, { body: {} })

export const createPasskey = (realm: PasskeyRealm, name: string, response: RegistrationResponseJSON) =>
  request<{ ID: string }>('POST', `${base[realm]}/passkeys`, { body: { Name: name, Response: response } })

export const renamePasskey = (realm: PasskeyRealm, id: string, name: string) =>
  request<null>('PUT', `${base[realm]}/passkeys/${id}`, { body: { Name: name } })

export const deletePasskey = (realm: PasskeyRealm, id: string) =>
  request<null>('DELETE', `${base[realm]}/passkeys/${id}`)
