import type { TargetDescription } from '#machines/protocol.ts'
import { definitions } from '#server/backends/definitions/index.ts'
import { backendField } from '#server/backends/sealing.schema.ts'
import type { Unseal } from '../unseal.ts'
import { type Driver, type DriverError, failAll } from './driver.ts'
import { escapeXml } from './panos-answer.ts'
import type { OpCommand, PanosApi, PanosDevice } from './panos-api.ts'

/** What all lists of all devices share. */
export type PanosDeps = {
  api: PanosApi
  unseal: Unseal
  /** Why this host doesn't let the agent reach a device now, or null. */
  checkReach: (hostname: string) => DriverError | null
}

/**
 * An external dynamic list of a Palo Alto firewall (Passive+): the firewall fetches it from the server, here it is
 * told when. What stands on it is known by the server from what was fetched, so nothing is opened, closed or listed.
 *
 * The command starts a job on the firewall and is answered before that has fetched anything.
 */
export function panosDriver(deps: PanosDeps, target: TargetDescription): Driver {
  const settings = readSettings(target, deps)
  const fail = async (entries: readonly { address: string }[]) => failAll(entries, onlyFetched)
  return {
    batchSize: 500,
    open: fail,
    close: fail,
    list: async () => 'unlistable',
    ensure: async () => ('code' in settings ? settings : null),
    // There is nothing that the agent may have put there.
    empty: async () => null,
    refresh: async () => {
      if ('code' in settings) return settings
      const reply = await deps.api.op(settings.device, settings.command)
      return 'error' in reply ? reply.error : null
    },
  }
}

const onlyFetched: DriverError = {
  code: 'onlyFetched',
  text: 'the firewall fetches this list from the server; nothing is opened or closed on it',
}

/** Visible ASCII: all that a header can carry, and more than PAN-OS makes keys of. */
const apiKeyPattern = /^[\x21-\x7E]{1,1024}$/

/** The server's own schemas read the settings, so names it would refuse are refused here too. */
function readSettings(
  target: TargetDescription,
  { unseal, checkReach }: PanosDeps,
): { device: PanosDevice; command: OpCommand } | DriverError {
  const backend = definitions.panos.backend.omit({ ApiKey: true }).safeParse(target.backend)
  const list = definitions.panos.acl.safeParse(target.list)
  if (!backend.success || !list.success) {
    return { code: 'badTarget', text: 'the order names no usable device or list' }
  }
  const apiKey = unseal(target, backendField('ApiKey'))
  if (apiKey === undefined || !apiKeyPattern.test(apiKey)) {
    return { code: 'needsCredentials', text: 'the API key is not readable; enter it again' }
  }
  const { Hostname, Insecure, VSys } = backend.data
  const unreachable = checkReach(Hostname)
  if (unreachable !== null) return unreachable
  const { EDLName, SerialNumber } = list.data
  return {
    device: { hostname: Hostname, apiKey, isInsecure: Insecure },
    command: { cmd: refreshCommand(EDLName), vsys: VSys, target: SerialNumber },
  }
}

/** `request system external-list refresh type ip name …` of the command line. */
const refreshCommand = (name: string): string =>
  `<request><system><external-list><refresh><type><ip><name>${escapeXml(name)}</name></ip></type></refresh></external-list></system></request>`
