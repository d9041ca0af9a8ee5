import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import type { DriverError } from './drivers/driver.ts'
import type { AgentLog } from './log.ts'

/** Exit code that has the launcher start the agent again, with the rights it has noted. */
export const startAgain = 3

/**
 * The agent's right to reach devices elsewhere. The launcher gives it the hosts of `devices.json` and no others; a
 * device that the server names for the first time is written there, and the agent starts again with that right.
 */
export type DeviceRights = {
  /** Why a device (`host` or `host:port`, https) may not be asked now, or null; the right to it is then seen to. */
  check: (hostname: string) => DriverError | null
  /** Resolves when the agent should start again for the sake of its rights. */
  restart: Promise<'restart'>
}

/** Names that come together, as in a welcome, are worth one start. */
const gatherMs = 200

/**
 * @param granted what the launcher gave, as `host:port`; undefined: nothing is refused, as without a launcher.
 * @param isFixed this host's own configuration names the devices, and the server can't add any.
 */
export function openDeviceRights({
  path,
  granted,
  isFixed,
  log,
}: {
  path: string
  granted: readonly string[] | undefined
  isFixed: boolean
  log: AgentLog
}): DeviceRights {
  const { promise, resolve } = Promise.withResolvers<'restart'>()
  let isStarting = false

  /** Notes a device for the next start; false when that would change nothing. */
  const askFor = (place: string): boolean => {
    const known = readDevices(path)
    if (known.includes(place)) return isStarting
    try {
      writeFileSync(`${path}.new`, `${JSON.stringify([...known, place], null, 2)}\n`, { mode: 0o600 })
      renameSync(`${path}.new`, path)
    } catch (error) {
      log.error({ device: place, error: String(error) }, 'a device cannot be noted')
      return false
    }
    log.info({ device: place }, 'a new device: the agent starts again with the right to reach it')
    isStarting = true
    setTimeout(() => resolve('restart'), gatherMs)
    return true
  }

  return {
    check: (hostname) => {
      const place = toPlace(hostname)
      if (granted === undefined || granted.includes(place)) return null
      if (!isFixed && askFor(place))
        return { code: 'notAllowed', text: `the agent starts again to be allowed to reach ${place}` }
      const where = isFixed
        ? 'it is not among the devices in agent.json'
        : 'its launcher gives no right to it'
      return { code: 'notAllowed', text: `the agent may not reach ${place}: ${where}` }
    },
    restart: promise,
  }
}

/** `host:port`, as the launcher and Deno write it. */
function toPlace(hostname: string): string {
  const url = new URL(`https://${hostname}`)
  return `${url.hostname}:${url.port || '443'}`
}

/** What is noted; damaged is nothing, and is written anew. */
function readDevices(path: string): string[] {
  try {
    return z.array(z.string()).parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return []
  }
}
