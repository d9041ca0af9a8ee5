import type { GrantRequest } from '#server/grants/grant.schema.ts'
import type { SystemStatus } from '#server/status/status.schema.ts'
import { askAddress } from './discovery-answer.ts'

/** An address as `IPs` names it: with the lookup port that saw it, 0 for one of the session's own. */
export type FoundAddress = GrantRequest['IPs'][number]

/** A service to ask, what its answer is told as, and whether it may see the nonce. */
export type LookupTarget = { Port: number; url: string; isOurs: boolean }

/** A lookup that is under way; whatever isn't there after 10 s doesn't come any more. */
export type Lookup = {
  /**
   * What has come and wasn't taken before: as soon as every port has answered or failed but those that aren't
   * awaited, at the latest at `deadline`.
   */
  take(deadline: Promise<unknown>, notAwaited?: ReadonlySet<number>): Promise<FoundAddress[]>
  /** The ports that neither answered nor failed to the end; known at the end. */
  blocked: Promise<ReadonlySet<number>>
}

/** An answer that takes longer than this is not awaited, in milliseconds. */
export const longestLookupMs = 10_000

/** `IPs` holds 8 addresses at most, one of them the session's own. */
const mostTargets = 7

/**
 * The lookup ports, by which an address behind CGNAT shows for each port. A foreign service is asked as such services
 * are, without the nonce: with that it could have its own address seen.
 */
export const portTargets = ({ IPApi, LookupPorts }: SystemStatus): LookupTarget[] =>
  IPApi === ''
    ? []
    : LookupPorts.slice(0, mostTargets).flatMap(({ Port, At }) => toTarget(Port, `${IPApi}:${At}`))

/** The origins with an address of one family only: a browser with both families shows both. */
export const familyTargets = ({ IPv4Origin, IPv6Origin }: SystemStatus): LookupTarget[] =>
  [IPv4Origin, IPv6Origin].filter((origin) => origin !== '').flatMap((origin) => toTarget(0, origin))

/** Asks every target at once. The nonce tells our listeners whose address they see; it is good for 60 s. */
export function startLookup(targets: readonly LookupTarget[], { nonce }: { nonce: string }): Lookup {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), longestLookupMs)
  const found: FoundAddress[] = []
  const silent = new Set(targets.map(({ Port }) => Port))
  const asked = targets.map(async ({ Port, url, isOurs }) => {
    const IP = await askAddress(isOurs ? withNonce(url, nonce) : url, limit.signal)
    silent.delete(Port)
    if (IP !== null) found.push({ Port, IP })
  })
  const blocked = new Promise<ReadonlySet<number>>((resolve) => {
    limit.signal.addEventListener('abort', () => resolve(new Set(silent)))
    void Promise.all(asked).then(() => {
      clearTimeout(timer)
      resolve(new Set())
    })
  })
  return {
    async take(deadline, notAwaited = new Set()) {
      const awaited = asked.filter((_, at) => !notAwaited.has(targets[at]?.Port ?? 0))
      await Promise.race([Promise.all(awaited), deadline])
      return found.splice(0)
    },
    blocked,
  }
}

function withNonce(url: string, nonce: string): string {
  const asked = new URL(url)
  asked.searchParams.set('n', nonce)
  return asked.href
}

/** Names of one family are ours by the server's word, lookup ports by being where this page is. */
function toTarget(Port: number, origin: string): LookupTarget[] {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return []
  const isOurs = Port === 0 || new URL(origin).hostname === location.hostname
  return [{ Port, url: isOurs ? `${origin}/ip` : `${origin}/`, isOurs }]
}
