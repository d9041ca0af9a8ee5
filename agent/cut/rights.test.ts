import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findProgram, requireProgram } from '#tests/support/debian.ts'
import { type Streams, startStreams } from '#tests/support/streams.ts'
import { until } from '#tests/support/until.ts'
import type { ProgramName } from '../programs.ts'
import { createNamespace, hasKernelSets, type TestNamespace } from '../testing/namespace.ts'
import { createFlowForgetter } from './flows.ts'
import { readHostRules } from './read-rules.ts'
import { createSocketEnder } from './sockets.ts'

const hasAll = () => hasKernelSets() && requireProgram('ss') && requireProgram('conntrack')

/** What deploy/agent/knoc-agent.service gives: an ordinary user, and two capabilities. */
describe.skipIf(!hasAll())('the rights of the service', () => {
  let ns: TestNamespace
  let streams: Streams
  const place = (command: readonly string[]) => ['ip', 'netns', 'exec', ns.name, ...command]
  const inside = (...command: string[]) => {
    const [file = '', ...args] = place(command)
    return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  }

  /** Programs that run in the namespace as nobody with these capabilities. */
  const findWith = (capabilities: string) => {
    const limits = `--reuid=65534 --clear-groups --inh-caps=${capabilities} --ambient-caps=${capabilities} --bounding-set=-all,${capabilities} --no-new-privs`
    return (name: ProgramName): string | undefined => {
      const known = findProgram(name as Parameters<typeof findProgram>[0])
      if (known === undefined) return undefined
      const path = join(ns.folder, `${name}${capabilities}`)
      writeFileSync(path, `#!/bin/sh\nexec ${place(['setpriv']).join(' ')} ${limits} ${known} "$@"\n`)
      chmodSync(path, 0o755)
      return path
    }
  }
  const find = findWith('+net_admin,+net_raw')
  const rule = (port: number) =>
    `-A INPUT -p tcp --dport ${port} -m set ! --match-set four src -j DROP`.split(' ')

  beforeAll(async () => {
    ns = createNamespace()
    inside('ip', 'link', 'set', 'lo', 'up')
    ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
    ns.run('add', 'four', '127.0.0.1', 'timeout', '600')
    inside('iptables-nft', ...rule(22))
    inside('iptables-nft', ...'-A INPUT -m conntrack --ctstate ESTABLISHED -j ACCEPT'.split(' '))
    inside('iptables-legacy', ...rule(23))
    inside('nft', 'add table inet firewall')
    streams = startStreams(place)
    await streams.serve(3000)
  })
  afterAll(() => {
    streams.stop()
    ns.remove()
  })

  it('are enough to read all rules, new and old', async () => {
    const rules = await readHostRules({ find, canEndSockets: null })
    expect(rules.unreadable).toBeNull()
    expect(rules.doors.map(({ ports, ruleset }) => [ruleset.kind, ports])).toEqual([
      ['nft', [[22, 22]]],
      ['legacy', [[23, 23]]],
    ])
    expect(rules).toMatchObject({
      ownNftTables: ['inet firewall'],
      isLoose: true,
      hasConntrack: true,
      canEndSockets: true,
    })
  })

  it('are too few without CAP_NET_RAW, and it says so', async () => {
    const { unreadable, doors } = await readHostRules({ find: findWith('+net_admin'), canEndSockets: null })
    expect(unreadable).toMatch(/CAP_NET_ADMIN and CAP_NET_RAW are needed/)
    expect(doors).toEqual([])
  })

  it('are enough to end sockets, of networks too, on listened ports when none are known', async () => {
    const sockets = createSocketEnder({ ss: find('ss'), canEnd: null })
    for (const [who, ports] of [
      ['127.0.0.1', [[2990, 3000]]],
      ['127.0.0.0/8', await sockets.listening()],
    ] as const) {
      const stream = await streams.open('127.0.0.1', 3000)
      expect(await sockets.end(['192.0.2.1'], ports)).toBeNull()
      expect(await sockets.end([who], [[3001, 3001]])).toBeNull()
      expect((await stream.look()).state).toBe('open')
      expect(await sockets.end([who], ports)).toBeNull()
      await until('it ends', async () => (await stream.look()).state === 'reset')
    }
    expect(sockets.canEnd()).toBe(true)
  })

  it('say so without the right to, and that a kernel can’t', async () => {
    const stream = await streams.open('127.0.0.1', 3000)
    const powerless = createSocketEnder({ ss: findWith('+net_raw')('ss'), canEnd: null })
    expect(await powerless.end(['127.0.0.1'], [[3000, 3000]])).not.toBeNull()
    const path = join(ns.folder, 'ss-that-cannot')
    writeFileSync(path, `#!/bin/sh\ncase $1 in *K*) exit 0;; esac\nexec ${place(['ss']).join(' ')} "$@"\n`)
    chmodSync(path, 0o755)
    const old = createSocketEnder({ ss: path, canEnd: null })
    expect((await old.end(['127.0.0.1'], [[3000, 3000]]))?.text).toContain('CONFIG_INET_DIAG_DESTROY')
    expect(old.canEnd()).toBe(false)
    expect((await stream.look()).state).toBe('open')
  })

  it('are enough to make conntrack forget flows, and only those meant', async () => {
    const flows = () =>
      inside('conntrack', '-L', '-p', 'tcp')
        .split('\n')
        .filter((line) => line.includes('ESTABLISHED') && line.includes('dport=3000')).length
    const forgetter = createFlowForgetter(find('conntrack'))
    const meant = { family: 4, protocol: 'tcp', addresses: ['127.0.0.1'] } as const
    // A single port is named to conntrack; for a range the flows are read before.
    for (const [here, elsewhere] of [
      [
        [3000, 3000],
        [3001, 3001],
      ],
      [
        [2990, 3005],
        [3001, 4000],
      ],
    ] as const) {
      await streams.open('127.0.0.1', 3000)
      const before = flows()
      expect(before).toBeGreaterThan(0)
      expect(await forgetter.forget({ ...meant, addresses: ['127.0.0.2'], ports: [here] })).toBeNull()
      expect(await forgetter.forget({ ...meant, ports: [elsewhere] })).toBeNull()
      expect(flows()).toBe(before)
      expect(await forgetter.forget({ ...meant, addresses: ['127.0.0.0/8'], ports: [here] })).toBeNull()
      expect(flows()).toBe(0)
    }
  })
})
