import type { Random } from './random.ts'
import { replicaPorts, type World } from './world.ts'

/** Of a hundred requests so many go to whichever replica is drawn, dead or not, as a balancer's would. */
const blindPercent = 15

/** No connection was made, so nobody heard the question. */
export const wasNeverAsked = (error: unknown): boolean => /\(Connect\)/.test(String(error))

/** Requests of people: from outside, each to one of the replicas. */
export function createRoamer({ site, hosts, replicas, lame }: World, random: Random) {
  const origin = site.settings.KNOC_PUBLIC_URL
  return {
    origin,
    fetch: (url: string, init: RequestInit): Promise<Response> => {
      const up = replicaPorts.filter((port) => replicas.has(port) && !lame.has(port))
      const some = up.length === 0 || random.below(100) < blindPercent ? replicaPorts : up
      const port = some[random.below(some.length)] ?? replicaPorts[0]
      return hosts[0].client.fetch(url.replace(`:${replicaPorts[0]}/`, `:${port}/`), init)
    },
  }
}
