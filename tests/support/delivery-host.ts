import type { CuttableProxy } from './hands.ts'
import { aHost } from './host.ts'
import { aSite, type Site, serverPort } from './site.ts'
import { until } from './until.ts'

/** The set of every knoc here. */
export const set4 = 'jit4'

export type DeliveryHost = Awaited<ReturnType<typeof aDeliveryHost>>
export type LinkedSite = Awaited<ReturnType<DeliveryHost['aLinkedSite']>>

/** A host with one set, and installations on it one after the other whose orders have to find their way there. */
export async function aDeliveryHost() {
  const host = await aHost()
  await host.makeSet(set4, 4)
  let nextProxyPort = 9_000

  const stands = async (address: string) => (await host.entries(set4)).has(address)

  /** A site whose one agent is linked through a proxy, and a person with a knoc. */
  async function aLinkedSite(name: string, env: Record<string, string> = {}) {
    await host.exec('ipset', 'flush', set4)
    const site = await aSite(host, { everywhere: true, env })
    const proxy: CuttableProxy = await host.hands.proxy((nextProxyPort += 1), [serverPort])
    const agent = await site.aLinkedAgent(name, { port: proxy.port, quick: true })
    const alex = await site.aPerson('alex', { at: '10.9.0.1' })
    const { ID: aclId } = await site.aKnoc(agent.id, { name: 'SSH', set4, people: [alex] })
    return { site, proxy, agent, alex, aclId }
  }

  return {
    ...host,
    /** Whether an address is in the set. */
    stands,
    untilOpen: (address: string) => until(`${address} is in the set`, () => stands(address)),
    untilShut: (address: string, withinMs = 10_000) =>
      until(`${address} is gone`, async () => !(await stands(address)), { withinMs }),
    aLinkedSite,
  }
}

/** Repairs by the auditor and processes that ended by themselves: faults, whatever the test was about. */
export const faultsOf = (site: Site): string[] => [
  ...site.crashes(),
  ...site.logged().filter((line) => line.includes('had to repair')),
]

const linkOf = (site: Site, agentId: string) =>
  site.db
    .selectFrom('agents')
    .select(['linkReplica', 'linkEpoch'])
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow()

/** The replica that holds an agent's link. */
export const holderOf = async (site: Site, agentId: string) => (await linkOf(site, agentId)).linkReplica
/** The number of that link; each link of an agent has a higher one. */
export const linkEpochOf = async (site: Site, agentId: string) => (await linkOf(site, agentId)).linkEpoch
