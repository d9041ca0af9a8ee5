import type { Config } from '../platform/config.ts'
import { etagOf } from '../platform/http/etag.ts'
import type { StoredAuthSettings } from './auth-setting.schema.ts'
import { type AuthSettingsAnswer, recorded, recordedSettings } from './auth-setting-wire.schema.ts'

/** Settings → Authentication as the console shows it: no key, no certificate, no secret. */
export function toAuthAnswer(
  stored: StoredAuthSettings,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): AuthSettingsAnswer {
  const { SAMLKeyFile, SAMLCertFile, AdminSAMLKeyFile, AdminSAMLCertFile, ...shown } = stored
  const secrets = recordedSettings.map((name) => [name, shown[name] === '' ? '' : recorded])
  return {
    ...shown,
    ...(Object.fromEntries(secrets) as Record<(typeof recordedSettings)[number], string>),
    PublicURL: shown.PublicURL || publicUrl,
    SAMLKeyFileSet: SAMLKeyFile !== '',
    SAMLCertFileSet: SAMLCertFile !== '',
    AdminSAMLKeyFileSet: AdminSAMLKeyFile !== '',
    AdminSAMLCertFileSet: AdminSAMLCertFile !== '',
  }
}

/** The version of Settings → Authentication: of all that is stored, so that a new secret makes a new one too. */
export const authEtag = (stored: StoredAuthSettings): string => etagOf(stored)
