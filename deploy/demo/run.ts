import type { ChildProcess } from 'node:child_process'
import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Runs a program to its end, without a shell; its stdout. Throws with what it wrote to stderr. */
export async function run(file: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await execute(file, [...args], { encoding: 'utf8', timeout: 20_000 })
    return stdout
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw new Error(`${[file, ...args].join(' ')} failed: ${stderr.trim() || (error as Error).message}`, {
      cause: error,
    })
  }
}

/** Whether a program is there and runs. */
export const canRun = (file: string, args: readonly string[]): Promise<boolean> =>
  run(file, args).then(
    () => true,
    () => false,
  )

/** A program that runs until it is stopped. */
export type Running = { child: ChildProcess; ended: Promise<number | null>; stop: () => Promise<void> }

/**
 * Starts a program in a group of its own, so that Ctrl-C reaches only us and we end it in our order.
 * `onLine` gets each line it writes.
 */
export function start(
  [file = '', ...args]: readonly string[],
  { env, onLine }: { env: Record<string, string>; onLine: (line: string) => void },
): Running {
  const child = spawn(file, args, {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      lines.forEach(onLine)
    })
  }
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
    child.once('error', () => resolve(null))
  })

  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    signalTo(child.pid, 'SIGTERM')
    const late = setTimeout(() => signalTo(child.pid, 'SIGKILL'), 20_000)
    await ended
    clearTimeout(late)
  }

  return { child, ended, stop }
}

/** Not child.kill: Deno would report an exit that has not happened yet. */
function signalTo(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal)
  } catch {
    // It ended by itself.
  }
}
