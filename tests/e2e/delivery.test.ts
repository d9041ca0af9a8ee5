import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { AgentRow } from '#server/agents/agent.schema.ts'
import { requireProgram } from '#tests/support/debian.ts'
import {
  aDeliveryHost,
  type DeliveryHost,
  faultsOf,
  holderOf,
  type LinkedSite,
} from '#tests/support/delivery-host.ts'
import type { CuttableProxy } from '#tests/support/hands.ts'
import { hasKernel } from '#tests/support/host.ts'
import type { TestProcess } from '#tests/support/process.ts'
import { redisPort, startRedis } from '#tests/support/redis-on-host.ts'
import { type Person, type Site, serverPort, urlOf } from '#tests/support/site.ts'
import { waitForAgent } from '../../deploy/demo/seed.ts'

const otherPort = 8081

describe.skipIf(!hasKernel())('delivery', { timeout: 90_000 }, () => {
  let host: DeliveryHost
  beforeAll(async () => {
    host = await aDeliveryHost()
  })
  afterAll(() => host.close())

  describe.each(['PostgreSQL', 'Redis'] as const)('with the queue on %s', (queue) => {
    if (queue === 'Redis' && !requireProgram('redis-server')) return
    let site: Site
    let proxy: CuttableProxy
    let agent: LinkedSite['agent']
    let alex: Person
    let aclId: string
    let redis: TestProcess | undefined

    beforeAll(async () => {
      if (queue === 'Redis') redis = await startRedis(host)
      const env: Record<string, string> =
        redis === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${redisPort}` }
      ;({ site, proxy, agent, alex, aclId } = await host.aLinkedSite(`edge-${queue}`, env))
    }, 120_000)
    afterAll(async () => {
      await site.close()
      await redis?.kill()
    })
    afterEach(() => expect(faultsOf(site)).toEqual([]))

    it('closes within five seconds when the replica dies that had the close in hand', async () => {
      await site.startServer(otherPort)
      await proxy.aim([serverPort, otherPort])
      await alex.grant(aclId)
      await host.untilOpen(alex.at)
      await proxy.break('mute')
      await alex.revoke(aclId)
      await wait(300)
      expect(await host.stands(alex.at)).toBe(true)
      const killedAt = performance.now()
      await site.server.kill()
      await host.untilShut(alex.at)
      expect(performance.now() - killedAt).toBeLessThan(5_000)
      const elsewhere = await site.openConsole(otherPort)
      expect((await elsewhere.request<AgentRow>('GET', `/admin/agents/${agent.id}`)).Online).toBe(true)
    })

    it('delivers through the other replica what was clicked at this one', async () => {
      await site.startServer()
      const elsewhere = await site.signIn('alex', urlOf(serverPort), alex.at)
      await elsewhere.grant(aclId)
      await host.untilOpen(alex.at)
      await elsewhere.revoke(aclId)
      await host.untilShut(alex.at, 2_500)
    })

    it('moves its agents to another replica and ends well when it is told to stop', async () => {
      expect(await holderOf(site, agent.id)).toBe(`r${otherPort}`)
      await site.untilStatus(alex, aclId, [9])
      await alex.grant(aclId)
      await host.untilOpen(alex.at)
      await proxy.aim([serverPort])
      const stopping = site.servers.at(-2)
      await stopping?.stop()
      expect(await stopping?.ended).toBe(0)
      expect(await holderOf(site, agent.id)).toBe(`r${serverPort}`)
      expect(await host.stands(alex.at)).toBe(true)
      await alex.revoke(aclId)
      await host.untilShut(alex.at)
    })
  })

  describe('on the embedded database', () => {
    it('is there again in seconds after a SIGKILL, with everything in it', { timeout: 120_000 }, async () => {
      const { site, alex, aclId, agent } = await host.aLinkedSite('edge-embedded', {
        DATABASE_URL: '',
      })
      try {
        await alex.grant(aclId)
        await host.untilOpen(alex.at)
        await site.server.kill()
        const { readyMs } = await site.startServer()
        expect(readyMs).toBeLessThan(10_000)
        await waitForAgent(site.console, agent.id)
        await alex.revoke(aclId)
        await host.untilShut(alex.at)
        expect(faultsOf(site)).toEqual([])
      } finally {
        await site.close()
      }
    })
  })
})
