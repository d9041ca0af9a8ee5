import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakePanos, panosKey, startFakePanos } from '#tests/support/fake-panos.ts'
import { anOrder, ipsetTarget, until } from './testing/builders.ts'
import { hasKernelSets } from './testing/namespace.ts'
import { withSecret } from './testing/seal.ts'
import { aSetClock, aWiredHost } from './testing/wired-host.ts'

describe.skipIf(!hasKernelSets())('an agent before a firewall that fetches its list', () => {
  let wired: Awaited<ReturnType<typeof aWiredHost>>
  let panos: FakePanos
  beforeEach(async () => {
    wired = await aWiredHost()
    panos = await startFakePanos({
      lists: [{ name: 'jit', fetch: async () => ({ status: 200, text: '192.0.2.7\n' }) }],
    })
  })
  afterEach(async () => {
    await wired.close()
    await panos.stop()
  })

  const answers = () =>
    wired.server.ofType('refreshed').map(({ generation, error }) => [generation, error?.code ?? null])
  const ask = (targetId: string, generation: number) =>
    wired.server.send({ type: 'refresh', targetId, generation })

  /** A linked agent that was told of the list, its key sealed to it as the server seals. */
  async function linkedWithList(over: Parameters<typeof wired.startLinked>[0] = {}) {
    const { server } = wired
    const { agent } = await wired.startLinked({ ca: panos.authority, ...over })
    const edl = aList()
    server.targets.push(edl)
    server.send({ type: 'targets', targets: [...server.targets] })
    return { agent, edl }
  }

  const aList = () =>
    withSecret(
      ipsetTarget('', 4, {
        key: `panos:${panos.hostname}:jit`,
        type: 'panos',
        family: null,
        backend: { Hostname: panos.hostname, VSys: 'vsys1', Insecure: false },
        list: { EDLName: 'jit' },
      }),
      {
        name: 'ApiKey',
        value: panosKey,
        agentId: wired.server.agentId,
        sealingKey: wired.server.sealingKey(),
      },
    )

  it('has it fetch when the server says so, though it may only close, and tells it by the server’s clock', async () => {
    wired.server.state.mayOpen = false
    const { host, state } = aSetClock()
    state.wallOffMs = 3_600_000
    const { edl } = await linkedWithList({ host })
    const before = Date.now()
    ask(edl.id, 5)
    await until('an answer', () => answers().length === 1)
    const [answer] = wired.server.ofType('refreshed')
    expect(answer).toMatchObject({ targetId: edl.id, generation: 5, error: null })
    expect(Math.abs((answer?.atMs ?? 0) - before)).toBeLessThan(60_000)
    await until('the firewall has it', () => panos.list('jit').enforced().includes('192.0.2.7'))
  })

  it('does one at a time and then the newest that waits, while doors elsewhere open and close', async () => {
    const { edl } = await linkedWithList()
    const release = panos.hold()
    ask(edl.id, 5)
    await until('a call', () => panos.calls.length === 1)
    for (const generation of [6, 8, 7]) ask(edl.id, generation)
    const [open, close] = [
      anOrder(wired.four, '192.0.2.9', 9, Date.now() + 60_000),
      anOrder(wired.four, '192.0.2.9', 10, 0),
    ]
    wired.server.order(open)
    await until('the door is open', () => wired.outcomeOf(open) === 'verified')
    wired.server.order(close)
    await until('the door is shut', () => wired.outcomeOf(close) === 'verified')
    expect(answers()).toEqual([])
    release()
    await until('two answers', () => answers().length === 2)
    expect(answers()).toEqual([
      [5, null],
      [8, null],
    ])
    expect(panos.calls).toHaveLength(2)
  })

  it('drops its answer while the link is away, asks nothing by itself, and answers when asked again', async () => {
    const { agent, edl } = await linkedWithList()
    const release = panos.hold()
    ask(edl.id, 5)
    await until('a call', () => panos.calls.length === 1)
    const links = wired.server.ofType('hello').length
    await wired.server.goAway()
    await until('the link is gone', () => !agent.isLinked())
    release()
    await until('the call is over', () => panos.callsUnderWay() === 0)
    await wired.server.comeBack()
    await until('a new link', () => wired.server.ofType('hello').length > links && agent.isLinked(), 20_000)
    ask(edl.id, 6)
    await until('an answer', () => answers().length > 0)
    expect(answers()).toEqual([[6, null]])
    expect(panos.calls).toHaveLength(2)
  })

  it('answers nothing of an epoch that is over', async () => {
    const { agent, edl } = await linkedWithList()
    const release = panos.hold()
    ask(edl.id, 50)
    ask(edl.id, 60)
    await until('a call', () => panos.calls.length === 1)
    const links = wired.server.ofType('hello').length
    wired.server.state.epoch = 'another-epoch'
    wired.server.sockets.at(-1)?.terminate()
    await until('a new link', () => wired.server.ofType('hello').length > links && agent.isLinked())
    ask(edl.id, 2)
    release()
    await until('an answer', () => answers().length > 0)
    expect(answers()).toEqual([[2, null]])
    expect(panos.calls).toHaveLength(2)
  })

  it('tells what the device refuses, and a new key that is sent later counts', async () => {
    const { edl } = await linkedWithList()
    wired.server.targets.pop()
    const bad = { ...edl, sealed: {} }
    wired.server.targets.push(bad)
    wired.server.send({ type: 'targets', targets: [...wired.server.targets] })
    ask(edl.id, 5)
    await until('an answer', () => answers().length === 1)
    wired.server.send({ type: 'targets', targets: [edl] })
    panos.setFault('unavailable')
    ask(edl.id, 5)
    await until('a second answer', () => answers().length === 2)
    panos.setFault(null)
    ask(edl.id, 5)
    await until('a third answer', () => answers().length === 3)
    expect(answers()).toEqual([
      [5, 'needsCredentials'],
      [5, 'deviceBusy'],
      [5, null],
    ])
  })

  it('has nothing to put right on it: a restart asks nothing, no drift and no fault are reported', async () => {
    const { edl } = await linkedWithList()
    ask(edl.id, 5)
    await until('an answer', () => answers().length === 1)
    const reports = () =>
      wired.server
        .ofType('targetReports')
        .flatMap((frame) => frame.reports)
        .filter(({ targetId }) => targetId === edl.id)
    await until('a look at it', () => reports().length > 0, 20_000)
    await wired.stopAgents()
    const { host } = aSetClock('boot-2')
    await wired.startLinked({ ca: panos.authority, host })
    wired.server.send({ type: 'listingRequest', request: 3, targetId: edl.id })
    await until('a listing', () => wired.server.ofType('listing').length > 0)
    expect(reports()).toMatchObject([{ desired: 0, actual: 0, foreign: 0, error: null }])
    expect(wired.server.ofType('listing')).toMatchObject([{ state: 'unlistable', error: null }])
    expect(wired.server.ofType('drift')).toEqual([])
    expect([panos.calls.length, answers().length]).toEqual([1, 1])
  })
})
