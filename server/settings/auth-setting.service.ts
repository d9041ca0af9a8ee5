import type { Acting } from '../audit/acting-admin.ts'
import { createKeyPair } from '../auth/saml/key-pair.ts'
import type { Deps } from '../context.ts'
import { apiError } from '../errors.ts'
import { inTransaction } from '../platform/database.ts'
import { checkUnchanged } from '../platform/http/etag.ts'
import { authEtag } from './auth-setting.answer.ts'
import { readAuthSettings, readStoredAuthSettings } from './auth-setting.query.ts'
import { sealedSettings } from './auth-setting.schema.ts'
import { type AuthChanges, type RealmPrefix, toAuthChanges } from './auth-setting-change.ts'
import { checkAuthChanges, checkProviders } from './auth-setting-rules.ts'
import type { AuthSettingsChange, GeneratedKeyPair } from './auth-setting-wire.schema.ts'
import { saveSettings } from './setting.service.ts'
import { lockSettings, type SettingChanges } from './setting.store.ts'

type SettingDeps = Pick<Deps, 'db' | 'sealer' | 'config'>

/**
 * Saves Settings → Authentication: absent fields stay. It holds for the next sign-in on every replica; sessions that
 * stand stay. What the rules were asked about is what is written: a change at the same moment refuses this one.
 *
 * @returns the new version's ETag.
 * @throws err.changedMeanwhile, err.credentialsRequired, and what the rules throw
 */
export async function updateAuthSettings(
  deps: SettingDeps,
  change: Acting & { request: AuthSettingsChange; ifMatch: string | null },
): Promise<string> {
  const { db, config, sealer } = deps
  const stored = await readStoredAuthSettings(db.grants)
  checkUnchanged(change.ifMatch, authEtag(stored))
  const changes = toAuthChanges(stored, change.request, config)
  checkAuthChanges(deps, { stored, changes })
  await checkProviders({ config }, { stored, changes })
  return inTransaction(db.grants, async (tx) => {
    await lockSettings(tx)
    checkUnchanged(authEtag(stored), authEtag(await readStoredAuthSettings(tx)))
    await saveSettings(tx, sealSecrets(sealer, changes), change)
    return authEtag(await readStoredAuthSettings(tx))
  })
}

/**
 * Makes a new SAML key pair for a realm and records it. The identity provider must be told the new certificate.
 *
 * @throws err.confirmReplacement when there is one already and nobody confirmed that it goes
 */
export async function generateSamlKeyPair(
  deps: SettingDeps,
  { prefix, isConfirmed, by, requestId }: Acting & { prefix: RealmPrefix; isConfirmed: boolean },
): Promise<GeneratedKeyPair> {
  const { db, sealer } = deps
  const [keyName, certificateName] = [`${prefix}SAMLKeyFile`, `${prefix}SAMLCertFile`] as const
  const { publicUrl } = await readAuthSettings(deps)
  const { key, certificate } = await createKeyPair(new URL(publicUrl).hostname)
  await inTransaction(db.grants, async (tx) => {
    await lockSettings(tx)
    const stored = await readStoredAuthSettings(tx)
    const isThere = stored[keyName] !== '' || stored[certificateName] !== ''
    if (isThere && !isConfirmed) throw apiError('err.confirmReplacement')
    const changes = sealSecrets(sealer, { [keyName]: key, [certificateName]: certificate })
    await saveSettings(tx, changes, { by, requestId })
  })
  return { Certificate: certificate }
}

function sealSecrets(sealer: Deps['sealer'], changes: AuthChanges): SettingChanges {
  const sealed = sealedSettings.flatMap((name) => {
    const plain = changes[name]
    const isSecret = typeof plain === 'string' && plain !== ''
    return isSecret ? [[name, sealer.seal(plain, { table: 'settings', column: 'value', id: name })]] : []
  })
  return { ...changes, ...(Object.fromEntries(sealed) as Record<string, string>) }
}
