import type { LdapSettings } from '../../settings/auth-setting.query.ts'
import { withDirectory } from './directory.ts'
import { bindAsService } from './directory-person.ts'

/**
 * Whether a directory can be reached as the settings say, and takes the service account if there is one; for a look
 * before they are saved.
 *
 * @throws err.directoryUnavailable, err.ldapUrlScheme
 */
export async function tryDirectory(
  settings: Pick<LdapSettings, 'url' | 'startTls' | 'skipVerifyTls' | 'service'>,
): Promise<void> {
  await withDirectory(settings, async (client) => {
    // Without a service account: what a directory says of itself to anybody, RFC 4512 §5.1.
    if (settings.service === null)
      await client.search('', { scope: 'base', attributes: ['1.1'], sizeLimit: 1 })
    else await bindAsService(client, settings.service)
  })
}
