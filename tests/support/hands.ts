import { fileURLToPath } from 'node:url'
import { startWorkerCalls } from './worker-calls.ts'

/** What can be done inside of a namespace. */
export type HandsCall =
  | { act: 'fetch'; url: string; init: { method: string; headers: Record<string, string>; body?: string } }
  | { act: 'say'; host: string; port: number; text: string }
  | { act: 'reach'; host: string; port: number }
  | { act: 'hold'; host: string; port: number }
  | { act: 'held'; number: number }
  | { act: 'serve'; port: number }
  | { act: 'proxy'; port: number; targets: ProxyTarget[] }
  | { act: 'proxyTargets'; port: number; targets: ProxyTarget[] }
  | { act: 'proxyLinks'; port: number }
  | { act: 'proxyBreak'; port: number; how: BreakHow }
  | { act: 'proxyDelay'; port: number; delayMs: number }
  | { act: 'watch'; doors: readonly Watched[]; everyMs: number }

/** `bury` resets the links that are muted or dead, and no others. */
export type BreakHow = 'cut' | 'mute' | 'dead' | 'bury'

/** A port of loopback, `host:port`, the path of a Unix socket, or `nowhere`: taken, and never answered. */
export type ProxyTarget = number | string

/** A door that is tried over and over, from an address of the namespace. */
export type Watched = { host: string; port: number; from: string }

/** One try: which of the doors, when it began and ended (Unix ms), and what came of it. */
export type Sight = [index: number, startedAt: number, endedAt: number, state: 'open' | 'refused' | 'silent']

/** An HTTP answer on its way between processes. */
export type HttpAnswer = { status: number; headers: [string, string][]; body: string }

/** How a TCP connection that was held open is. `reset` is a reset by the other side. */
export type HeldState = {
  state: 'connecting' | 'open' | 'refused' | 'reset' | 'ended'
  endedAt: number | null
}

/** A test's hands inside of a network namespace. */
export type Hands = ReturnType<typeof startHands>

/** Starts the worker; `place` puts a command into the namespace. */
export function startHands(place: (command: readonly string[]) => readonly string[]) {
  const worker = fileURLToPath(new URL('./hands-worker.ts', import.meta.url))
  let onSights: (sights: Sight[]) => void = () => undefined
  const { ask, stop } = startWorkerCalls<HandsCall>(worker, place, (word) =>
    onSights((word as { sights: Sight[] }).sights),
  )

  return {
    /** `fetch` from in there, for string bodies. */
    fetch: async (url: string, init: RequestInit): Promise<Response> => {
      const headers = Object.fromEntries(new Headers(init.headers))
      const body = typeof init.body === 'string' ? { body: init.body } : {}
      const answer = await ask<HttpAnswer>({
        act: 'fetch',
        url,
        init: { method: init.method ?? 'GET', headers, ...body },
      })
      return new Response([204, 304].includes(answer.status) ? null : answer.body, answer)
    },
    /** Writes raw text to a TCP service; what it answers. */
    say: (host: string, port: number, text: string) => ask<string>({ act: 'say', host, port, text }),
    /** Whether a TCP service can be used: its greeting came, the connection was refused, or nothing came at all. */
    reach: (host: string, port: number) => ask<'open' | 'refused' | 'silent'>({ act: 'reach', host, port }),
    /** Opens a connection that goes on talking; its number. */
    hold: (host: string, port: number) => ask<number>({ act: 'hold', host, port }),
    held: (number: number) => ask<HeldState>({ act: 'held', number }),
    /** A TCP service that greets and echoes. */
    serve: (port: number) => ask<void>({ act: 'serve', port }),
    /**
     * A TCP proxy on loopback to the first of `targets` that answers. `cut` resets its links, `mute` swallows what
     * servers say on them, `dead` swallows everything on them and tells neither end that the other is gone; links
     * made afterwards work.
     */
    proxy: async (port: number, targets: ProxyTarget[]) => {
      await ask<void>({ act: 'proxy', port, targets })
      return {
        port,
        aim: (to: ProxyTarget[]) => ask<void>({ act: 'proxyTargets', port, targets: to }),
        /** Connections of agents that they still hold, dead ones included. */
        links: () => ask<number>({ act: 'proxyLinks', port }),
        break: (how: BreakHow) => ask<void>({ act: 'proxyBreak', port, how }),
        /** What passes from now on comes so much later, in order. */
        delay: (delayMs: number) => ask<void>({ act: 'proxyDelay', port, delayMs }),
      }
    },
    /** Tries every door from now on, all of them each `everyMs`, and tells what it saw; once a worker. */
    watch: (doors: readonly Watched[], everyMs: number, tell: (sights: Sight[]) => void) => {
      onSights = tell
      return ask<void>({ act: 'watch', doors, everyMs })
    },
    stop,
  }
}

/** A proxy whose links can be broken. */
export type CuttableProxy = Awaited<ReturnType<Hands['proxy']>>
