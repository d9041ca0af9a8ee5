import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A worker of a test that does things elsewhere: calls go in as lines of JSON, answers and its own words come out. */
export type WorkerCalls<Call> = {
  ask: <Value>(call: Call) => Promise<Value>
  /** Lets the worker end. */
  stop: () => void
}

/** Starts a worker's file; `place` puts its command where it is to run. `onWord` hears lines that answer no call. */
export function startWorkerCalls<Call>(
  file: string,
  place: (command: readonly string[]) => readonly string[],
  onWord: (word: unknown) => void = () => undefined,
): WorkerCalls<Call> {
  const [program = '', ...args] = place([process.execPath, 'run', '--quiet', '--allow-all', file])
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let last = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { id?: number; value?: unknown; error?: string }
    if (said.id === undefined) {
      onWord(said)
      return
    }
    const call = waiting.get(said.id)
    waiting.delete(said.id)
    if (said.error === undefined) call?.resolve(said.value)
    else call?.reject(new Error(said.error))
  })
  child.stdin.on('error', () => undefined)
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} has ended`))
    waiting.clear()
  })
  return {
    ask: <Value>(call: Call) => {
      const id = (last += 1)
      return new Promise<unknown>((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        child.stdin.write(`${JSON.stringify({ id, call })}\n`)
      }) as Promise<Value>
    },
    stop: () => void child.stdin.end(),
  }
}
