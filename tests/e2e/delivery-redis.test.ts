import process from 'node:process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requireProgram } from '#tests/support/debian.ts'
import type { CuttableProxy } from '#tests/support/hands.ts'
import { aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import type { TestProcess } from '#tests/support/process.ts'
import { redisPort, startRedis } from '#tests/support/redis-on-host.ts'
import { aSite, type Site, urlOf } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'

const set4 = 'jit4'
const at = '10.9.6.1'
const proxyPort = 9_200
const otherPort = 8_081
/** A nudge may cost a click 200 ms (decision 23); the rest is a machine that others use as well. */
const answeredMs = 1_000
/** Without nudges the look at the table brings it, once a second; the rest as above. */
const withoutNudgesMs = 2_500

describe.skipIf(!hasKernel() || !requireProgram('redis-server'))(
  'a Redis that is',
  { timeout: 60_000 },
  () => {
    let host: TestHost
    let redis: TestProcess
    let proxy: CuttableProxy
    let site: Site
    let elsewhere: Awaited<ReturnType<Site['signIn']>>
    let aclId: string

    beforeAll(async () => {
      host = await aHost()
      await host.makeSet(set4, 4)
      redis = await startRedis(host)
      proxy = await host.hands.proxy(proxyPort, [redisPort])
      site = await aSite(host, {
        everywhere: true,
        env: { REDIS_URL: `redis://127.0.0.1:${proxyPort}`, KNOC_LOG_LEVEL: 'info' },
      })
      const agent = await site.aLinkedAgent('edge', { quick: true })
      const alex = await site.aPerson('alex', { at })
      aclId = (await site.aKnoc(agent.id, { name: 'SSH', set4, people: [alex] })).ID
      // The other one holds no agent: what is clicked there needs a nudge, or the look at the table.
      await site.startServer(otherPort)
      elsewhere = await site.signIn('alex', urlOf(otherPort), at)
    }, 120_000)
    afterAll(async () => {
      expect(site.crashes()).toEqual([])
      await site.close()
      await redis.kill()
      await host.close()
    })

    const stands = async () => (await host.entries(set4)).has(at)
    const readiness = async () =>
      ((await (await host.client.fetch(`${urlOf()}/ready`, {})).json()) as { status: string }).status
    const untilReady = (status: string) => until(status, async () => (await readiness()) === status)

    /** Opens and closes by the replica that does not hold the agent, and measures. */
    async function openAndClose() {
      for (const [act, isStanding] of [
        ['grant', true],
        ['revoke', false],
      ] as const) {
        const clicked = performance.now()
        await elsewhere[act](aclId)
        expect(performance.now() - clicked).toBeLessThan(answeredMs)
        await until(act, async () => (await stands()) === isStanding, { withinMs: withoutNudgesMs })
      }
      await site.untilStatus(elsewhere, aclId, [9])
    }

    it('lost with all its data costs a second and nothing else, and is used again when an empty one is there', async () => {
      await openAndClose()
      await redis.kill()
      await openAndClose()
      expect(await readiness()).toBe('degraded')
      redis = await startRedis(host)
      await untilReady('ok')
      await openAndClose()
    })

    it('hung costs a click no more than its patience', async () => {
      process.kill(redis.pid, 'SIGSTOP')
      try {
        await openAndClose()
        await untilReady('degraded')
      } finally {
        process.kill(redis.pid, 'SIGCONT')
      }
      await untilReady('ok')
    })

    it('evicting is degraded, as nudges may vanish, and everything works', async () => {
      const setPolicy = (policy: string) =>
        host.hands.say('127.0.0.1', redisPort, `CONFIG SET maxmemory-policy ${policy}\r\n`)
      await setPolicy('allkeys-lru')
      await untilReady('degraded')
      await openAndClose()
      await setPolicy('noeviction')
      await untilReady('ok')
    })

    it('out of reach when a replica dies between its commit and its job: the table says it, to whoever lives', async () => {
      await proxy.break('dead')
      await elsewhere.grant(aclId)
      await site.servers.at(-1)?.kill()
      await until('open', stands, { withinMs: withoutNudgesMs })
      await site.startServer(otherPort)
      await proxy.break('dead')
      await elsewhere.revoke(aclId)
      await site.servers.at(-1)?.kill()
      await until('shut', async () => !(await stands()), { withinMs: withoutNudgesMs })
    })
  },
)
