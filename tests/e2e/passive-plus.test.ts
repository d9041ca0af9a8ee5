import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { KnocCreated } from '#server/knocs/knoc.schema.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { panosKey } from '#tests/support/fake-panos.ts'
import { aFirewall } from '#tests/support/firewall.ts'
import { addresses, aHost, hasKernel, type TestHost } from '#tests/support/host.ts'
import type { TestProcess } from '#tests/support/process.ts'
import { redisPort, startRedis } from '#tests/support/redis-on-host.ts'
import { aSite, type Person, type Site, urlOf } from '#tests/support/site.ts'
import { until } from '#tests/support/until.ts'

const otherPort = 8_081
/** The promise of Passive+: told within a second or so of the change; the rest is a machine that others use as well. */
const toldMs = 5_000
const at = addresses.client4

describe.skipIf(!hasKernel()).each(['PostgreSQL', 'Redis'] as const)(
  'a firewall that is told to fetch its list, with the queue on %s',
  { timeout: 90_000 },
  (queue) => {
    if (queue === 'Redis' && !requireProgram('redis-server')) return
    let host: TestHost
    let redis: TestProcess | undefined
    let site: Site
    let firewall: Awaited<ReturnType<typeof aFirewall>>
    let agentId: string
    let alex: Person
    let list: KnocCreated

    beforeAll(async () => {
      host = await aHost()
      redis = queue === 'Redis' ? await startRedis(host) : undefined
      site = await aSite(host, {
        env: queue === 'Redis' ? { REDIS_URL: `redis://127.0.0.1:${redisPort}` } : {},
      })
      firewall = await aFirewall(host.place)
      agentId = (await site.aLinkedAgent('edge', { quick: true })).id
      alex = await site.aPerson('alex')
      list = await aPlusKnoc()
      await firewall.aim({ url: list.URL ?? '', key: list.PlaintextKey ?? '' })
    }, 120_000)
    afterEach(() =>
      expect([...site.crashes(), ...site.logged().filter((line) => line.includes('had to repair'))]).toEqual(
        [],
      ),
    )
    afterAll(async () => {
      await site.close()
      firewall.stop()
      await redis?.kill()
      await host.close()
    })

    const panosOf = (ApiKey: string) => ({
      panos: { Hostname: firewall.hostname, ApiKey, VSys: 'vsys1', Insecure: true },
    })

    /** A list that alex may be on, with the firewall below it. */
    const aPlusKnoc = (): Promise<KnocCreated> =>
      site.console.request<KnocCreated>('POST', '/admin/knocs', {
        Backend: { AgentID: null, Config: { allowlist: {} } },
        ACL: { Description: 'Data centre', ClickToGrant: true, Config: { allowlist: {} } },
        Child: {
          Backend: { AgentID: agentId, Config: panosOf(panosKey) },
          ACL: { Config: { panos: { EDLName: firewall.edl } } },
        },
        ApiKey: { Option: 'new', Name: 'Data centre', AllowedFrom: [{ prefix: `${addresses.host4}/32` }] },
        UserIDs: [alex.userId],
      })

    const enforced = async () => (await firewall.look()).enforced
    const untilEnforced = (wanted: string[], withinMs = toldMs) =>
      until(`${wanted.join()} is enforced`, async () => (await enforced()).join() === wanted.join(), {
        withinMs,
      })
    const statusOf = async () => {
      const entry = await alex.statusOf(list.ID)
      return [entry?.Status, entry?.Error]
    }

    /** Opens and closes, by whichever replica. */
    async function openAndClose(person: Pick<Person, 'grant' | 'revoke' | 'statusOf'>) {
      await person.grant(list.ID)
      await untilEnforced([at])
      await site.untilStatus(person, list.ID, [5])
      await person.revoke(list.ID)
      await untilEnforced([])
      await site.untilStatus(person, list.ID, [9])
    }

    it('lets in at a click and out at the next, by itself: 4 → 5 → 9', async () => {
      expect(await statusOf()).toEqual([4, null])
      await openAndClose(alex)
      await openAndClose(alex)
      expect((await firewall.look()).fetches).not.toContain(0)
    })

    it('lets out at an end that nobody clicked', async () => {
      const endsAt = new Date(Date.now() + 8_000).toISOString()
      await site.console.request('PUT', `/admin/users/${alex.userId}`, {
        ...{ ID: alex.userId, Name: 'alex', ValidUntil: endsAt, AclIds: [list.ID] },
      })
      await alex.grant(list.ID)
      await untilEnforced([at])
      await untilEnforced([], Date.parse(endsAt) - Date.now() + toldMs)
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(endsAt))
      await site.console.request('PUT', `/admin/users/${alex.userId}`, {
        ...{ ID: alex.userId, Name: 'alex', ValidUntil: null, AclIds: [list.ID] },
      })
      Object.assign(alex, await site.signIn('alex'))
    })

    it('is told though the click came to another replica, and though that dies at once', async () => {
      await site.startServer(otherPort)
      await openAndClose(await site.signIn('alex', urlOf(otherPort)))
      const person = await site.signIn('alex', urlOf(otherPort))
      await person.grant(list.ID)
      await site.servers.at(-1)?.kill()
      await untilEnforced([at])
      await site.startServer(otherPort)
      await person.revoke(list.ID)
      await site.servers.at(-1)?.kill()
      await untilEnforced([])
    })

    it.skipIf(queue === 'PostgreSQL')('is told with Redis down', async () => {
      await site.startServer(otherPort)
      await redis?.kill()
      await openAndClose(await site.signIn('alex', urlOf(otherPort)))
      redis = await startRedis(host)
    })

    it('keeps its last list while the server is down, and is told of what changed when it is back', async () => {
      await alex.grant(list.ID)
      await untilEnforced([at])
      for (const server of site.servers) await server.kill()
      await firewall.fetchNow()
      expect(await firewall.look()).toMatchObject({ enforced: [at] })
      expect((await firewall.look()).fetches.at(-1)).toBe(0)
      await site.startServer()
      await alex.revoke(list.ID)
      // The agent has to find its way back first.
      await untilEnforced([], 30_000)
      await site.untilStatus(alex, list.ID, [9])
    })

    it('that refuses its key leaves 6 with a text, until the key is right', async () => {
      const change = (key: string) =>
        site.console.request('PUT', `/admin/knocs/${list.ChildID}`, {
          Backend: { AgentID: agentId, Config: panosOf(key) },
          ACL: { Config: { panos: { EDLName: firewall.edl } } },
        })
      await change(Buffer.from('no key of this device').toString('base64'))
      await alex.grant(list.ID)
      await until('the text is there', async () => (await statusOf())[1] === 'err.listRefreshFailed')
      expect(await statusOf()).toEqual([6, 'err.listRefreshFailed'])
      expect(await enforced()).toEqual([])
      await change(panosKey)
      await untilEnforced([at])
      await site.untilStatus(alex, list.ID, [5])
      expect(await statusOf()).toEqual([5, null])
    })

    it('lets everybody out when its knoc is deleted', async () => {
      await untilEnforced([at])
      await site.console.request('DELETE', `/admin/knocs/${list.ID}`)
      await untilEnforced([])
    })
  },
)
