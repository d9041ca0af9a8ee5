import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ipsetDriver } from './drivers/ipset.ts'
import { createIpsetPipe, type IpsetPipe } from './drivers/ipset-pipe.ts'
import { openManagedSets } from './managed-sets.ts'
import { ipsetTarget } from './testing/builders.ts'
import { createNamespace, hasKernelSets, type TestNamespace } from './testing/namespace.ts'

const address = '192.0.2.7'

describe.skipIf(!hasKernelSets())('what is said of a door', () => {
  let ns: TestNamespace
  let pipe: IpsetPipe
  beforeAll(() => {
    ns = createNamespace()
    ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
    pipe = createIpsetPipe({ ipset: ns.ipset })
  })
  afterAll(() => {
    pipe.stop()
    ns.remove()
  })

  /** A driver whose commands of one kind are swallowed on their way to the kernel, without an error. */
  const driverThatLoses = (verb: 'add' | 'del') =>
    ipsetDriver(
      {
        ipset: ns.ipset,
        pipe: {
          ...pipe,
          run: (commands) =>
            pipe.run(commands.map((lines) => lines.filter((line) => !line.startsWith(`${verb} `)))),
        },
        sets: openManagedSets(`${ns.folder}/sets.json`, []),
        connections: { end: async () => null },
      },
      ipsetTarget('four', 4),
    )

  it('is open only when it was seen to be', async () => {
    const [outcome] = await driverThatLoses('add').open([{ address, timeoutSeconds: 60, userName: 'erika' }])
    expect(outcome).toMatchObject({ outcome: 'failed', error: { code: 'notVerified' } })
  })

  it('is closed only when it was seen gone', async () => {
    ns.run('add', 'four', address, 'timeout', '60')
    const [outcome] = await driverThatLoses('del').close([{ address, userName: 'erika' }])
    expect(outcome).toMatchObject({ outcome: 'failed', error: { code: 'notVerified' } })
    expect(ns.entries('four').has(address)).toBe(true)
  })
})
