import { apiError } from '../../errors.ts'
import type { Log } from '../../platform/log.ts'
import type { SamlSettings } from '../../settings/auth-setting.query.ts'
import { fetchIdpMetadata, type IdpMetadata, readIdpMetadata } from './idp-metadata.ts'

const freshMilliseconds = 10 * 60_000
/** Nobody waits for a provider that just failed, and it is not asked with every click. */
const retryMilliseconds = 10_000

type Kept = { metadata: IdpMetadata | undefined; askAgainAt: number; asking?: Promise<void> }

/** Knows identity providers' metadata: from the settings, or from an address, which is asked every ten minutes. */
export type IdpMetadataSource = {
  /** @throws err.identityProviderUnavailable when it was never read and can't be now. */
  read(settings: Pick<SamlSettings, 'metadataFile' | 'metadataUrl'>): Promise<IdpMetadata>
}

/**
 * One for each replica. What was read last is kept when the address fails later; several who ask at once wait for one
 * answer, and only if there is none yet.
 */
export function createIdpMetadataSource(
  log: Pick<Log, 'warn'>,
  fetchMetadata: (url: string) => Promise<IdpMetadata> = fetchIdpMetadata,
  now: () => number = () => performance.now(),
): IdpMetadataSource {
  const kept = new Map<string, Kept>()

  async function ask(url: string, entry: Kept): Promise<void> {
    try {
      entry.metadata = await fetchMetadata(url)
      entry.askAgainAt = now() + freshMilliseconds
    } catch (error) {
      log.warn({ err: error, url }, 'the metadata of the identity provider could not be read')
      entry.askAgainAt = now() + retryMilliseconds
    } finally {
      delete entry.asking
    }
  }

  async function readByUrl(url: string): Promise<IdpMetadata | undefined> {
    const entry = kept.get(url) ?? { metadata: undefined, askAgainAt: now() }
    // An address that is no longer set is forgotten: there are two realms at most.
    if (!kept.has(url) && kept.size >= 4) kept.clear()
    kept.set(url, entry)
    if (now() >= entry.askAgainAt) entry.asking ??= ask(url, entry)
    if (entry.metadata === undefined) await entry.asking
    return entry.metadata
  }

  return {
    async read({ metadataFile, metadataUrl }) {
      if (metadataFile !== '') return readIdpMetadata(metadataFile)
      const metadata = await readByUrl(metadataUrl)
      if (metadata === undefined)
        throw apiError('err.identityProviderUnavailable', { detail: 'its metadata could not be read' })
      return metadata
    },
  }
}
