import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openManagedSets } from '../managed-sets.ts'
import { ipsetTarget } from '../testing/builders.ts'
import { createNamespace, hasKernelSets, type TestNamespace } from '../testing/namespace.ts'
import { isDriverError } from './driver.ts'
import { emptySet, ipsetDriver } from './ipset.ts'
import { createIpsetPipe, type IpsetPipe } from './ipset-pipe.ts'

const opening = (address: string, timeoutSeconds = 600) => ({ address, timeoutSeconds, userName: 'erika' })
const closing = (address: string) => ({ address, userName: 'erika' })

describe.skipIf(!hasKernelSets())('the ipset driver, on the real kernel', () => {
  let ns: TestNamespace
  let pipe: IpsetPipe
  const deps = () => ({
    ipset: ns.ipset,
    pipe,
    sets: openManagedSets(`${ns.folder}/sets.json`, []),
    connections: { end: async () => null },
  })
  const driver = (name: string, family: 4 | 6) => ipsetDriver(deps(), ipsetTarget(name, family))

  beforeAll(() => {
    ns = createNamespace()
    pipe = createIpsetPipe({ ipset: ns.ipset })
    ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
    ns.run('create', 'six', 'hash:net', 'family', 'inet6', 'timeout', '0', 'comment')
    ns.run('create', 'net4', 'hash:net', 'family', 'inet', 'timeout', '0')
    ns.run('create', 'small', 'hash:ip', 'family', 'inet', 'timeout', '0', 'maxelem', '2', 'hashsize', '64')
    ns.run('create', 'lasting', 'hash:ip', 'family', 'inet')
    ns.run('create', 'ports', 'hash:ip,port', 'family', 'inet', 'timeout', '0')
  })
  afterAll(() => {
    pipe.stop()
    ns.remove()
  })

  it.each([
    ['four', 4, '192.0.2.7'],
    ['six', 6, '2001:db8::7'],
  ] as const)(
    'opens and closes in %s, reads it back, and takes both twice',
    async (name, family, address) => {
      const one = driver(name, family)
      for (let twice = 0; twice < 2; twice += 1) {
        expect(await one.open([opening(address, 60)])).toEqual([
          { address, outcome: 'verified', error: null },
        ])
      }
      expect(ns.entries(name).get(address)).toBeGreaterThan(57)
      await one.open([opening(address, 7)])
      expect(ns.entries(name).get(address)).toBeLessThanOrEqual(7)
      for (let twice = 0; twice < 2; twice += 1) {
        expect(await one.close([closing(address)])).toEqual([{ address, outcome: 'verified', error: null }])
      }
      expect(ns.entries(name).size).toBe(0)
    },
  )

  it('lets the kernel end an entry by itself', async () => {
    const one = driver('four', 4)
    await one.open([opening('192.0.2.9', 1)])
    expect(ns.entries('four').has('192.0.2.9')).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 1_300))
    expect(ns.entries('four').has('192.0.2.9')).toBe(false)
  })

  it('takes a batch and tells each entry’s own outcome', async () => {
    const outcomes = await driver('small', 4).open(
      ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1'].map((a) => opening(a)),
    )
    const byAddress = new Map(outcomes.map((outcome) => [outcome.address, outcome]))
    expect(byAddress.get('192.0.2.1')?.outcome).toBe('verified')
    expect(byAddress.get('192.0.2.2')?.outcome).toBe('verified')
    expect(byAddress.get('192.0.2.3')?.error).toMatchObject({
      code: 'setFull',
      text: expect.stringContaining('full'),
    })
    expect(byAddress.get('2001:db8::1')?.error?.code).toBe('badAddress')
    await driver('small', 4).close(['192.0.2.1', '192.0.2.2'].map(closing))
  })

  it.each([
    ['nowhere', 4, 'setMissing'],
    ['lasting', 4, 'noTimeouts'],
    ['six', 4, 'setUnfit'],
    ['ports', 4, 'setUnfit'],
    ['x\nflush four', 4, 'badTarget'],
    ['four six', 4, 'badTarget'],
    ['-', 4, 'badTarget'],
  ] as const)('refuses to open in %j with a clear word, and changes nothing', async (name, family, code) => {
    const [outcome] = await driver(name, family).open([opening('192.0.2.7')])
    expect(outcome?.error?.code).toBe(code)
    expect(ns.entries('four').size + ns.entries('lasting').size).toBe(0)
  })

  it.each([
    '192.0.2.7\nflush four',
    '192.0.2.7 timeout 0',
    '192.0.2.7;',
    '::ffff:192.0.2.7',
    '0.0.0.0/0',
    '10.1.2.3/16',
    '10.1',
    '010.1.1.1',
    '1.1.1.1-1.1.1.9',
    'localhost',
    'fe80::1%eth0',
    '',
  ])('refuses the address %j before ipset ever sees it', async (address) => {
    for (const [name, family] of [
      ['net4', 4],
      ['six', 6],
    ] as const) {
      const [outcome] = await driver(name, family).open([opening(address)])
      expect(outcome?.error?.code).toBe('badAddress')
    }
    expect(ns.entries('net4').size + ns.entries('six').size).toBe(0)
  })

  it('holds networks in hash:net, apart from hosts inside them, and refuses them in hash:ip', async () => {
    const nets = driver('net4', 4)
    await nets.open([opening('10.1.0.0/16'), opening('10.1.2.3')])
    expect([...ns.entries('net4').keys()].sort()).toEqual(['10.1.0.0/16', '10.1.2.3'])
    expect((await nets.close([closing('10.1.2.3')]))[0]?.outcome).toBe('verified')
    expect([...ns.entries('net4').keys()]).toEqual(['10.1.0.0/16'])
    await nets.close([closing('10.1.0.0/16')])
    expect((await driver('four', 4).open([opening('10.1.0.0/30')]))[0]?.error?.code).toBe('setUnfit')
  })

  it('goes on when the ipset process is killed in the middle', async () => {
    const one = driver('four', 4)
    await one.open([opening('192.0.2.20')])
    const killed = pipe.pid()
    // More than a pipe holds: not all of it can have been done before the kill.
    const many = Array.from({ length: 4_000 }, (_, index) => opening(`198.51.${index >> 8}.${index & 255}`))
    const working = one.open(many)
    if (killed !== undefined) process.kill(killed, 'SIGKILL')
    const outcomes = await working
    expect(outcomes.every(({ outcome }) => outcome === 'verified')).toBe(true)
    expect(ns.entries('four').size).toBe(4_001)
    expect(pipe.pid()).not.toBe(killed)
    await one.close(outcomes.map(({ address }) => closing(address)))
  })

  it('gives up on an ipset that hangs, and starts another', async () => {
    const hung = createIpsetPipe({ ipset: ns.ipset, answerWithinMs: 300 })
    await hung.run([['test four 192.0.2.1']])
    const pid = hung.pid()
    if (pid !== undefined) process.kill(pid, 'SIGSTOP')
    await expect(hung.run([['test four 192.0.2.1']])).rejects.toThrow('in time')
    expect(await hung.run([['test four 192.0.2.1']])).toEqual([['192.0.2.1 is NOT in set four.']])
    hung.stop()
  })

  it('writes nothing to the pipe that could be two commands', async () => {
    await expect(pipe.run([['test four 192.0.2.1\nflush four']])).rejects.toThrow('must not')
    await expect(pipe.run([['test four "192.0.2.1"']])).rejects.toThrow('must not')
  })

  it('makes a set again that it has found fit before, as it was', async () => {
    ns.run('create', 'comes', 'hash:ip', 'family', 'inet', 'timeout', '0', 'maxelem', '1000', 'counters')
    const one = driver('comes', 4)
    await one.open([opening('192.0.2.7')])
    ns.run('destroy', 'comes')
    expect((await one.open([opening('192.0.2.8')]))[0]?.outcome).toBe('verified')
    expect(ns.run('list', 'comes', '-t')).toMatch(/maxelem 1000 .*counters/)
    ns.run('destroy', 'comes')
    expect((await one.close([closing('192.0.2.8')]))[0]?.outcome).toBe('verified')
    expect(await driver('comes', 4).ensure()).toBeNull()
  })

  it('lists what stands, and empties only what has an end', async () => {
    const one = driver('net4', 4)
    await one.open([opening('192.0.2.7', 50), opening('198.51.100.0/24', 2_147_483)])
    ns.run('add', 'net4', '203.0.113.9', 'timeout', '0')
    const standing = await one.list()
    if (standing === 'unlistable' || isDriverError(standing)) throw new Error('no list')
    expect([...standing.keys()].sort()).toEqual(['192.0.2.7', '198.51.100.0/24', '203.0.113.9'])
    expect(standing.get('203.0.113.9')).toBe(0)
    expect(standing.get('198.51.100.0/24')).toBeGreaterThan(2_147_400)
    expect(await emptySet(ns.ipset, 'net4')).toBeNull()
    expect([...ns.entries('net4').keys()]).toEqual(['203.0.113.9'])
    ns.run('flush', 'net4')
  })

  it('tells that ipset may not be used without the right', async () => {
    const { execFileSync } = await import('node:child_process')
    const { writeFileSync, chmodSync } = await import('node:fs')
    const path = `${ns.folder}/ipset-nobody`
    writeFileSync(
      path,
      `#!/bin/sh\nexec ip netns exec ${ns.name} setpriv --bounding-set -net_admin --inh-caps -all ipset "$@"\n`,
    )
    chmodSync(path, 0o755)
    expect(execFileSync('id', ['-u'], { encoding: 'utf8' }).trim()).toBe('0')
    const nobody = createIpsetPipe({ ipset: path })
    const one = ipsetDriver({ ...deps(), ipset: path, pipe: nobody }, ipsetTarget('four', 4))
    expect((await one.open([opening('192.0.2.7')]))[0]?.error?.code).toBe('permission')
    nobody.stop()
  })
})
