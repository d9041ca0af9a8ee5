import { fileURLToPath } from 'node:url'
import { startWorkerCalls } from '#tests/support/worker-calls.ts'

/** A door that is tried over and over, from an address of the namespace. */
export type Watched = {
  host: string
  port: number
  from: string
  /** Whether a connection is kept through it whenever it is open. */
  keepsStream: boolean
}

export type EyesCall = { act: 'watch'; doors: readonly Watched[]; everyMs: number }

/** One try: which of the doors, when it began and ended (Unix ms), and what came of it. */
export type Sight = [index: number, startedAt: number, endedAt: number, state: 'open' | 'refused' | 'silent']

/** A connection that was kept: its number, the door's, since when, and when it ended; null: it has just begun. */
export type StreamSight = [stream: number, index: number, openedAt: number, endedAt: number | null]

export type EyesWord = { sights: Sight[] } | { stream: StreamSight }

/** Eyes outside of a host: they try its doors, and keep a connection through each that they find open. */
export function openEyes(place: (command: readonly string[]) => readonly string[]) {
  const worker = fileURLToPath(new URL('./eyes-worker.ts', import.meta.url))
  let onSights: (sights: Sight[]) => void = () => undefined
  let onStream: (stream: StreamSight) => void = () => undefined
  const { ask, stop } = startWorkerCalls<EyesCall>(worker, place, (word) => {
    const said = word as EyesWord
    if ('sights' in said) onSights(said.sights)
    else onStream(said.stream)
  })
  return {
    /** Tries every door from now on, all of them each `everyMs`; once. */
    watch: (
      doors: readonly Watched[],
      everyMs: number,
      told: { sights: (sights: Sight[]) => void; stream: (stream: StreamSight) => void },
    ) => {
      onSights = told.sights
      onStream = told.stream
      return ask<void>({ act: 'watch', doors, everyMs })
    },
    stop,
  }
}
