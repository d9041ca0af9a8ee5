import { type Running, start } from '../../deploy/demo/run.ts'

/** A real program of a test, with everything it wrote. */
export type TestProcess = {
  pid: number
  /** Lines of both streams, in order. */
  lines: string[]
  ended: Running['ended']
  /** Whether it ended without being told to. */
  hasCrashed: () => boolean
  /** Resolves at the first line that fits, one already written included. @throws when the program ends before. */
  said: (what: RegExp, withinMs?: number) => Promise<string>
  /** Tells each line from now on. */
  hear: (listener: (line: string) => void) => void
  /** SIGKILL for it and its children, as when the power goes. */
  kill: () => Promise<void>
  /** SIGTERM, and waits for its end. */
  stop: () => Promise<void>
}

/** Starts a program in a process group of its own. */
export function startProgram(command: readonly string[], env: Record<string, string>): TestProcess {
  const lines: string[] = []
  const listeners = new Set<(line: string) => void>()
  const onLine = (line: string) => {
    lines.push(line)
    for (const listener of listeners) listener(line)
  }
  const { child, ended } = start(command, { env, onLine })
  const { pid } = child
  if (pid === undefined) throw new Error(`${command.join(' ')} could not be started`)
  let isOver = false
  let isTold = false
  void ended.then(() => {
    isOver = true
  })

  // Not child.kill: Deno then reports an exit that has not happened yet.
  async function end(signal: NodeJS.Signals, target: number): Promise<void> {
    if (isOver) return
    isTold = true
    try {
      process.kill(target, signal)
    } catch {
      // It ended by itself.
    }
    await ended
  }

  function said(what: RegExp, withinMs = 30_000): Promise<string> {
    const known = lines.find((line) => what.test(line))
    if (known !== undefined) return Promise.resolve(known)
    return new Promise((resolve, reject) => {
      const give = (reason: string) => () => {
        done()
        reject(new Error(`${reason} ${what}:\n${lines.slice(-20).join('\n')}`))
      }
      const listen = (line: string) => {
        if (!what.test(line)) return
        done()
        resolve(line)
      }
      const timer = setTimeout(give(`not said within ${withinMs} ms:`), withinMs)
      const done = () => {
        clearTimeout(timer)
        listeners.delete(listen)
      }
      listeners.add(listen)
      void ended.then(give('the program ended without saying'))
    })
  }

  return {
    pid,
    lines,
    ended,
    hasCrashed: () => isOver && !isTold,
    said,
    hear: (listener) => void listeners.add(listener),
    kill: () => end('SIGKILL', -pid),
    stop: () => end('SIGTERM', pid),
  }
}
