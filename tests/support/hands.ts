import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** What can be done inside of a namespace. */
export type HandsCall =
  | { act: 'fetch'; url: string; init: { method: string; headers: Record<string, string>; body?: string } }
  | { act: 'say'; host: string; port: number; text: string }
  | { act: 'reach'; host: string; port: number }
  | { act: 'hold'; host: string; port: number }
  | { act: 'held'; number: number }
  | { act: 'serve'; port: number }
  | { act: 'proxy'; port: number; targets: number[] }
  | { act: 'proxyTargets'; port: number; targets: number[] }
  | { act: 'proxyLinks'; port: number }
  | { act: 'proxyBreak'; port: number; how: 'cut' | 'mute' | 'dead' }

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
  const [file = '', ...args] = place([process.execPath, 'run', '--quiet', '--allow-all', worker])
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let last = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, value, error } = JSON.parse(line) as { id: number; value?: unknown; error?: string }
    const call = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) call?.resolve(value)
    else call?.reject(new Error(error))
  })
  child.stdin.on('error', () => undefined)
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the hands are gone'))
    waiting.clear()
  })

  function ask<Value>(call: HandsCall): Promise<Value> {
    const id = (last += 1)
    return new Promise<unknown>((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      child.stdin.write(`${JSON.stringify({ id, call })}\n`)
    }) as Promise<Value>
  }

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
    proxy: async (port: number, targets: number[]) => {
      await ask<void>({ act: 'proxy', port, targets })
      return {
        port,
        aim: (to: number[]) => ask<void>({ act: 'proxyTargets', port, targets: to }),
        /** Connections of agents that they still hold, dead ones included. */
        links: () => ask<number>({ act: 'proxyLinks', port }),
        break: (how: 'cut' | 'mute' | 'dead') => ask<void>({ act: 'proxyBreak', port, how }),
      }
    },
    stop: () => child.stdin.end(),
  }
}

/** A proxy whose links can be broken. */
export type CuttableProxy = Awaited<ReturnType<Hands['proxy']>>
