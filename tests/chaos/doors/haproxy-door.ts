import { acls, aHaproxy } from '#agent/testing/haproxy.ts'
import type { DoorKind } from './door-kind.ts'

/**
 * An ACL of a real HAProxy, which ends nothing by itself and forgets everything when it dies or is told to reload.
 * What the agent has not seen closed before its death stays until it is back.
 */
export const haproxyDoor: DoorKind = {
  share: 2,
  families: [4, 6],
  endsBy: 'agent',
  canCut: true,
  backMs: 5_000,
  build: async (host, { port }) => {
    const serverPort = port + 10_000
    await host.hands.serve(serverPort)
    const haproxy = await aHaproxy({
      tcpPort: port,
      httpPort: port + 20_000,
      statsPort: port + 30_000,
      serverPort,
      place: host.place,
    })
    let isRunning = true
    let turn: Promise<unknown> = Promise.resolve()
    /** A boot and an attack may meet: one after the other. */
    const inTurn = (act: () => Promise<void>): Promise<void> => {
      const done = turn.then(act)
      turn = done.catch(() => undefined)
      return done
    }
    const kill = async () => {
      isRunning = false
      await haproxy.kill()
    }
    const start = async () => {
      if (!isRunning) await haproxy.start()
      isRunning = true
    }
    return {
      config: {
        backend: { haproxy: { Protocol: 'unix', Address: haproxy.socket } },
        acl: { haproxy: { ID: acls.tcp } },
      },
      agentFile: { haproxySocket: haproxy.socket },
      standing: async () => new Map((await haproxy.entries(acls.tcp)).map((address) => [address, 0])),
      boot: () =>
        inTurn(async () => {
          await kill()
          await start()
        }),
      program: {
        kill: () => inTurn(kill),
        start: () => inTurn(start),
        reload: () => inTurn(async () => (isRunning ? haproxy.reload() : undefined)),
      },
      close: () => inTurn(haproxy.remove),
    }
  },
}
