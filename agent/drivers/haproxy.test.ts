import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { requireProgram } from '#tests/support/debian.ts'
import { until } from '#tests/support/until.ts'
import { acls, aHaproxyWithService, haproxyTarget, type TestHaproxy } from '../testing/haproxy.ts'
import { type Driver, isDriverError } from './driver.ts'
import { haproxyDriver } from './haproxy.ts'
import { createHaproxySockets, type HaproxySockets } from './haproxy-socket.ts'

const opening = (address: string) => ({ address, timeoutSeconds: 600, userName: 'erika' })
const closing = (address: string) => ({ address, userName: 'erika' })
const verified = (address: string) => ({ address, outcome: 'verified', error: null })
const statics = ['198.51.100.0/24', '203.0.113.9/32']

describe.skipIf(!requireProgram('haproxy'))(
  'the HAProxy driver, on a real HAProxy',
  { timeout: 30_000 },
  () => {
    let haproxy: TestHaproxy
    let sockets: HaproxySockets

    const driver = (id: number, address = haproxy.socket): Driver =>
      haproxyDriver({ sockets, allowed: [haproxy.socket, haproxy.tcp] }, haproxyTarget(address, id))
    const open = (...addresses: string[]) => driver(acls.tcp).open(addresses.map(opening))
    const close = (...addresses: string[]) => driver(acls.tcp).close(addresses.map(closing))
    const listed = async (one = driver(acls.tcp)) => {
      const listing = await one.list()
      if (listing === 'unlistable' || isDriverError(listing)) throw new Error(JSON.stringify(listing))
      return [...listing.keys()]
    }

    beforeAll(async () => {
      haproxy = await aHaproxyWithService({ statics })
      sockets = createHaproxySockets()
    })
    afterEach(async () => {
      for (const text of await haproxy.entries(acls.tcp)) {
        if (!statics.includes(text)) await haproxy.say(`del acl #${acls.tcp} ${text}`)
      }
    })
    afterAll(async () => {
      sockets.stop()
      await haproxy.remove()
    })

    it.each(['unix', 'tcp'] as const)(
      'opens and closes both families by its %s socket, reads it back, and takes both twice without a double',
      async (protocol) => {
        const one = driver(acls.tcp, protocol === 'unix' ? haproxy.socket : haproxy.tcp)
        const addresses = ['192.0.2.7', '2001:db8::7', '192.0.2.64/26', '2001:db8:1::/48']
        for (let twice = 0; twice < 2; twice += 1) {
          expect(await one.open(addresses.map(opening))).toEqual(addresses.map(verified))
        }
        expect((await haproxy.entries(acls.tcp)).toSorted()).toEqual([...statics, ...addresses].toSorted())
        expect(await listed(one)).toEqual(expect.arrayContaining(addresses))
        for (let twice = 0; twice < 2; twice += 1) {
          expect(await one.close(addresses.map(closing))).toEqual(addresses.map(verified))
        }
        expect(await haproxy.entries(acls.tcp)).toEqual(statics)
      },
    )

    it('opens an address although a wider network lets it in already, and closes it exactly', async () => {
      expect(await open('198.51.100.5')).toEqual([verified('198.51.100.5')])
      expect(await haproxy.entries(acls.tcp)).toContain('198.51.100.5')
      expect(await close('198.51.100.5')).toEqual([verified('198.51.100.5')])
      expect(await haproxy.entries(acls.tcp)).toEqual(statics)
    })

    it('takes doubles and other spellings of a closed address away, whoever put them there', async () => {
      await open('192.0.2.8')
      for (const text of ['192.0.2.8', '192.0.2.8/32', '2001:DB8::8', '192.0.2.77/26']) {
        await haproxy.say(`add acl #${acls.tcp} ${text}`)
      }
      const wanted = ['192.0.2.8', '2001:db8::8', '192.0.2.64/26']
      expect(await listed()).toEqual(expect.arrayContaining(wanted))
      expect(await close(...wanted)).toEqual(wanted.map(verified))
      expect(await haproxy.entries(acls.tcp)).toEqual(statics)
    })

    it('shows what others put there, even the whole Internet, and can take it away', async () => {
      await haproxy.say(`add acl #${acls.tcp} 0.0.0.0/0`)
      expect(await listed()).toEqual(['198.51.100.0/24', '203.0.113.9', '0.0.0.0/0'])
      expect(await close('0.0.0.0/0')).toEqual([verified('0.0.0.0/0')])
      expect(await listed()).toEqual(['198.51.100.0/24', '203.0.113.9'])
    })

    it('empties nothing: entries do not say whose they are, and those of the journal are closed one by one', async () => {
      await open('192.0.2.9')
      expect(await driver(acls.tcp).empty()).toBeNull()
      expect(await listed()).toEqual(['198.51.100.0/24', '203.0.113.9', '192.0.2.9'])
    })

    it.each([
      '1.1.1.1;add acl #7 9.9.9.9',
      '1.1.1.1\nadd acl #7 9.9.9.9',
      '1.1.1.1 9.9.9.9',
      '#0x1',
      '0.0.0.0/0',
      '10.0.0.1/8',
      '::ffff:9.9.9.9',
      'fe80::1%eth0',
      'localhost',
      '010.0.0.1',
      '',
    ])('says nothing to HAProxy for what is no plain address: %j', async (address) => {
      expect(await open(address, '192.0.2.1')).toEqual([
        { address, outcome: 'failed', error: expect.objectContaining({ code: 'badAddress' }) },
        verified('192.0.2.1'),
      ])
      await close(address)
      expect(await haproxy.entries(acls.tcp)).toEqual([...statics, '192.0.2.1'])
    })

    it.each([
      [acls.none, 'setMissing', /no ACL of this number.*-u NUMBER/],
      [acls.words, 'setUnfit', /does not hold addresses/],
    ])(
      'says what is wrong with ACL #%d, adds nothing, and takes a close for done',
      async (id, code, text) => {
        const one = driver(id)
        const error = { code, text: expect.stringMatching(text) }
        expect(await one.open([opening('192.0.2.1')])).toEqual([
          { address: '192.0.2.1', outcome: 'failed', error },
        ])
        expect(await one.list()).toEqual(error)
        expect(await one.ensure()).toEqual(error)
        expect(await one.close([closing('192.0.2.1')])).toEqual([verified('192.0.2.1')])
        expect(await haproxy.entries(acls.words)).toEqual(['/nothing'])
      },
    )

    it('takes 10,000 entries in batches, lists them, and closes them', async () => {
      const one = driver(acls.http)
      const addresses = Array.from({ length: 10_000 }, (_, index) => `10.9.${index >> 8}.${index & 255}`)
      const batches = Array.from({ length: 20 }, (_, index) =>
        addresses.slice(index * 500, index * 500 + 500),
      )
      const startedAt = performance.now()
      for (const batch of batches) {
        const outcomes = await one.open(batch.map(opening))
        expect(outcomes.every(({ outcome }) => outcome === 'verified')).toBe(true)
      }
      expect((await listed(one)).length).toBe(10_000)
      for (const batch of batches) await one.close(batch.map(closing))
      expect(await listed(one)).toEqual([])
      expect(performance.now() - startedAt).toBeLessThan(15_000)
    })

    it('opens again on the new process after a restart, and tells whoever listens, once', async () => {
      const one = driver(acls.tcp)
      let told = 0
      one.onReplaced?.(() => (told += 1))
      await one.open([opening('192.0.2.7')])
      await haproxy.restart()
      await until('the loss is told', () => told > 0, { withinMs: 4_000 })
      expect(await listed()).not.toContain('192.0.2.7')
      expect(await one.open([opening('192.0.2.7')])).toEqual([verified('192.0.2.7')])
      expect(told).toBe(1)
    })

    it('never takes the process that a reload has left behind for the one that serves', async () => {
      const one = driver(acls.tcp)
      let told = 0
      one.onReplaced?.(() => (told += 1))
      await one.open([opening('192.0.2.7')])
      await haproxy.reload()
      // The old process still answers on the connection that was kept open.
      expect(await one.open([opening('192.0.2.7')])).toEqual([verified('192.0.2.7')])
      expect(await haproxy.entries(acls.tcp)).toContain('192.0.2.7')
      await until('the loss is told', () => told > 0, { withinMs: 4_000 })
    })

    it('hears of a reload although nobody asks for anything', async () => {
      const one = driver(acls.tcp)
      let told = 0
      one.onReplaced?.(() => (told += 1))
      await one.list()
      await haproxy.reload()
      await until('the loss is told', () => told > 0, { withinMs: 4_000 })
    })

    it('fails with words while HAProxy is away, and works when it is back', async () => {
      const one = driver(acls.tcp)
      await one.list()
      await haproxy.kill()
      const error = {
        code: 'unknown',
        text: expect.stringMatching(/cannot be reached|closed the connection|broke/),
      }
      expect(await one.open([opening('192.0.2.1')])).toEqual([
        { address: '192.0.2.1', outcome: 'failed', error },
      ])
      expect(await one.close([closing('192.0.2.1')])).toEqual([
        { address: '192.0.2.1', outcome: 'failed', error },
      ])
      expect(await one.list()).toEqual(error)
      await haproxy.start()
      expect(await one.open([opening('192.0.2.1')])).toEqual([verified('192.0.2.1')])
    })
  },
)
