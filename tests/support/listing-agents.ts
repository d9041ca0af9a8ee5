import type { Kysely } from 'kysely'
import type { DB } from '#server/platform/database.types.ts'
import { startDuties } from '#server/platform/duties.ts'
import { createLog } from '#server/platform/log.ts'
import { aHello, aQuietGateway } from './quiet-gateway.ts'

/** A frame of either side, as a test reads it. */
export type AnyFrame = { type: string } & Record<string, unknown>

/** What a fake agent has on one list: address → seconds left, or its end; or why it has none. */
export type FakeList = Record<string, number | Date> | 'unlistable' | 'failed' | 'silent'

/** A replica in this process, and agents that answer it as they are told to: the gateway's own code, no network. */
export function aReplica(db: Kysely<DB>, { replica = 'here' }: { replica?: string } = {}) {
  const gateway = aQuietGateway(db, { replica })
  const run = (name: string) => gateway.duties.find((duty) => duty.name === name)?.run()
  const stop = startDuties(
    [
      { name: 'listings', everyMs: 20, run: async () => run('listings') },
      { name: 'beat', everyMs: 1_000, run: () => Promise.resolve(run('table')).then(() => run('heartbeat')) },
    ],
    createLog({ logLevel: 'silent', replica }),
  )

  /** Links an agent; `lists` is what stands on each of its targets. */
  async function link(
    agentId: string,
    {
      protocol = { min: 1, max: 2 },
      lists = {},
      answer,
      withinMs = 5_000,
    }: {
      protocol?: { min: number; max: number }
      lists?: Record<string, FakeList>
      /** Instead of the lists: what is sent for a request. */
      answer?: (request: AnyFrame) => AnyFrame[]
      /** How long its welcome is waited for. */
      withinMs?: number
    } = {},
  ) {
    const frames: AnyFrame[] = []
    const closed: number[] = []
    const socket = {
      send: (text: string) => {
        const frame = JSON.parse(text) as AnyFrame
        frames.push(frame)
        if (frame.type === 'listingRequest') setImmediate(() => reply(frame))
        // A heartbeat keeps the link as it keeps that of an agent.
        if (frame.type === 'heartbeat') say({ type: 'heartbeat', nowMs: Date.now() })
      },
      close: (code: number) => void closed.push(code),
      terminate: () => void closed.push(1006),
      bufferedAmount: 0,
    }
    const made = gateway.accept({ agentId, externalIp: '192.0.2.1' }, socket)
    const say = (frame: AnyFrame) => made.receive(JSON.stringify(frame))
    const reply = (request: AnyFrame) => {
      for (const frame of answer?.(request) ?? toListing(request, lists)) say(frame)
    }
    say(aHello({ protocol }))
    for (let tries = 0; tries < withinMs / 10 && !frames.some(({ type }) => type === 'welcome'); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 10))
    return { frames, closed, say, lists, drop: () => gateway.release(made) }
  }

  return {
    link,
    /** Runs a duty of the gateway now. */
    run,
    /** Resolves when nothing of it asks the database any more. */
    stop,
  }
}

/** An answer in as many frames as it takes. */
export function toListing(request: AnyFrame, lists: Record<string, FakeList>): AnyFrame[] {
  const list = lists[String(request['targetId'])] ?? {}
  if (list === 'silent') return []
  const state = typeof list === 'string' ? list : 'listed'
  const entries = typeof list === 'string' ? [] : Object.entries(list)
  const head = {
    type: 'listing',
    request: request['request'],
    targetId: request['targetId'],
    checkedAtMs: Date.now(),
    state,
    error: state === 'failed' ? 'no such set' : null,
  }
  const frames: AnyFrame[] = []
  for (let at = 0; at === 0 || at < entries.length; at += 1_000)
    frames.push({
      ...head,
      entries: entries.slice(at, at + 1_000).map(([address, end]) => ({
        address,
        remainingSeconds: typeof end === 'number' ? end : secondsTo(end),
      })),
      last: at + 1_000 >= entries.length,
    })
  return frames
}

const secondsTo = (end: Date): number => Math.max(0, Math.floor((end.getTime() - Date.now()) / 1000))
