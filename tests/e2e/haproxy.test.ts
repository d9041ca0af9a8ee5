import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acls, aHaproxy } from '#agent/testing/haproxy.ts'
import type { KnocCreated } from '#server/knocs/knoc.schema.ts'
import { waitForAgent } from '../../deploy/demo/seed.ts'
import { requireProgram } from '../support/debian.ts'
import { addresses, aHost, hasKernel, type TestHost } from '../support/host.ts'
import { aSite, type Person, type Site } from '../support/site.ts'
import { until } from '../support/until.ts'

const ports = { tcpPort: 2301, httpPort: 2302, statsPort: 2303, serverPort: 2300 }

describe.skipIf(!hasKernel() || !requireProgram('haproxy'))('a door of HAProxy', { timeout: 60_000 }, () => {
  let host: TestHost
  let site: Site
  let haproxy: Awaited<ReturnType<typeof aHaproxy>>
  let agent: Awaited<ReturnType<Site['registerAgent']>>
  let alex: Person
  let knoc: string

  beforeAll(async () => {
    host = await aHost()
    await host.hands.serve(ports.serverPort)
    haproxy = await aHaproxy({ ...ports, place: host.place })
    site = await aSite(host)
    agent = await site.registerAgent('proxy')
    const allowed = { haproxySocket: haproxy.socket, haproxyAddresses: [haproxy.tcp] }
    writeFileSync(join(agent.data, 'agent.json'), JSON.stringify(allowed))
    // By its launcher, with the narrow rights that customers give it.
    site.startAgent(agent)
    await waitForAgent(site.console, agent.id)
    alex = await site.aPerson('alex')
    knoc = (await aKnoc('Behind HAProxy')).ID
  }, 120_000)
  afterAll(async () => {
    await site.close()
    await haproxy.remove()
    await host.close()
  })

  const aKnoc = (
    name: string,
    {
      backend = { Address: haproxy.socket },
      id = acls.tcp,
      people = [alex],
      ...fields
    }: Partial<{
      backend: Record<string, unknown>
      id: number
      people: { userId: string }[]
      CutConnections: boolean
    }> = {},
  ): Promise<KnocCreated> =>
    site.console.request<KnocCreated>('POST', '/admin/knocs', {
      Backend: { AgentID: agent.id, Config: { haproxy: backend } },
      ACL: { Description: name, ClickToGrant: true, Config: { haproxy: { ID: id } }, ...fields },
      UserIDs: people.map(({ userId }) => userId),
    })
  const reach = () => host.client.reach(addresses.host4, ports.tcpPort)
  const isOpen = async () => (await reach()) === 'open'
  const isShut = async () => (await reach()) === 'refused'
  const anOpenDoor = async (aclId: string, person = alex) => {
    await person.grant(aclId)
    await until('the door is open', isOpen)
    await site.untilStatus(person, aclId, [0])
  }
  const untilShut = async (aclId: string) => {
    await until('the door is shut', isShut)
    await site.untilStatus(alex, aclId, [9])
  }
  const aStream = async () => {
    const number = await host.client.hold(addresses.host4, ports.tcpPort)
    await until('the stream talks', async () => (await host.client.held(number)).state === 'open')
    return { isOver: async () => (await host.client.held(number)).state !== 'open' }
  }

  it('opens with a click; closing it ends the streams that went through', async () => {
    expect(await reach()).toBe('refused')
    await anOpenDoor(knoc)
    expect(await haproxy.entries(acls.tcp)).toEqual([addresses.client4])
    const stream = await aStream()
    await alex.revoke(knoc)
    await until('the stream ends', stream.isOver)
    await untilShut(knoc)
    expect(await haproxy.entries(acls.tcp)).toEqual([])
  })

  it('lets streams drain where its knoc does not cut', async () => {
    const draining = (await aKnoc('Draining', { CutConnections: false })).ID
    await anOpenDoor(draining)
    const stream = await aStream()
    await alex.revoke(draining)
    await untilShut(draining)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await stream.isOver()).toBe(false)
    // The next one that cuts ends it, as it comes from the same address.
    await anOpenDoor(knoc)
    await alex.revoke(knoc)
    await until('the stream ends', stream.isOver)
    await untilShut(knoc)
    await site.console.request('DELETE', `/admin/knocs/${draining}`)
  })

  it('stands again within five seconds of a restart of HAProxy, which is written down', async () => {
    await anOpenDoor(knoc)
    await haproxy.restart()
    expect(await until('the door is open again', isOpen)).toBeLessThan(5_000)
    await until('the drift is written down', async () => {
      const rows = await site.db
        .selectFrom('auditEvents')
        .select('fields')
        .where('kind', '=', 'Drift')
        .execute()
      return rows.some(({ fields }) => (fields as Record<string, string>)['Description'] === 'missing')
    })
    await alex.revoke(knoc)
    await untilShut(knoc)
  })

  it('works by the tcp socket and another ACL, and moves there when its knoc says so while it is open', async () => {
    const moving = (await aKnoc('Moving')).ID
    await anOpenDoor(moving)
    await site.console.request('PUT', `/admin/knocs/${moving}`, {
      Backend: { Config: { haproxy: { Protocol: 'tcp', Address: haproxy.tcp } } },
      ACL: { Config: { haproxy: { ID: acls.http } } },
    })
    await until('the new list has it', async () => (await haproxy.entries(acls.http)).length === 1)
    await until('the old list has let go', async () => (await haproxy.entries(acls.tcp)).length === 0)
    await site.console.request('DELETE', `/admin/knocs/${moving}`)
    await until('the new list has let go', async () => (await haproxy.entries(acls.http)).length === 0)
  })

  it('says what is wrong where the ACL is not there', async () => {
    const missing = (await aKnoc('Missing', { id: acls.none })).ID
    await alex.grant(missing)
    await until('the fault is noted', async () => {
      const texts = await site.db.selectFrom('entries').select('errorText').execute()
      return texts.some(({ errorText }) => errorText?.includes('no ACL of this number'))
    })
    await site.console.request('DELETE', `/admin/knocs/${missing}`)
  })

  it.each([
    [{ Address: '/run/h.sock;show info' }, { ID: 7 }, 'err.invalidField'],
    [{ Address: '/run/haproxy.sock' }, { ID: 1.5 }, 'err.aclIdMustBeNumber'],
    [{ Address: '/run/haproxy.sock' }, {}, 'err.badRequest'],
  ])('is not made of %j and %j', async (backend, acl, code) => {
    const asked = site.console.request('POST', '/admin/knocs', {
      Backend: { AgentID: agent.id, Config: { haproxy: backend } },
      ACL: { Description: 'Wrong', ClickToGrant: true, Config: { haproxy: acl } },
    })
    await expect(asked).rejects.toThrow(code)
  })

  it('ends by the agent’s clock with the server dead, its streams too', async () => {
    const guest = await site.aPerson('guest', { ValidUntil: new Date(Date.now() + 7_000).toISOString() })
    const brief = (await aKnoc('Brief', { people: [guest] })).ID
    const { ExpiredAfter } = await guest.grant(brief)
    await until('the door is open', isOpen)
    await site.untilStatus(guest, brief, [0])
    const stream = await aStream()
    await site.server.kill()
    await until('the entry is gone', async () => (await haproxy.entries(acls.tcp)).length === 0)
    const lateMs = Date.now() - Date.parse(ExpiredAfter ?? '')
    expect(lateMs).toBeGreaterThan(-50)
    expect(lateMs).toBeLessThan(2_000)
    await until('the stream ends', stream.isOver)
    expect(await reach()).toBe('refused')
  })
})
