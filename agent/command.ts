import { execa } from 'execa'

/** The only PATH programs started by the agent see; nothing of the agent's own environment reaches them. */
const cleanEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** How a program ended. `text` of a failure is for the administrator and never holds the environment. */
export type CommandResult = {
  ok: boolean
  exitCode: number | null
  stdout: string
  stderr: string
  /** Why it has no exit code, or null: it ran into its time limit, its output limit, or could not be started. */
  fault: 'timeout' | 'output' | 'start' | null
}

/**
 * Runs one program to its end: no shell, arguments as they are, a clean environment, a time limit in
 * milliseconds and a limit on what it may print. Never throws.
 */
export async function run(
  file: string,
  args: readonly string[],
  options: {
    timeoutMs: number
    input?: string
    env?: Record<string, string>
    cwd?: string
    maxOutputBytes?: number
  },
): Promise<CommandResult> {
  let isLate = false
  const child = execa(file, args, {
    reject: false,
    // execa's clean-up listens to our signals and ends the agent before its batch is done.
    cleanup: false,
    extendEnv: false,
    env: { ...options.env, ...cleanEnvironment },
    ...(options.input === undefined ? { stdin: 'ignore' } : { input: options.input }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    maxBuffer: options.maxOutputBytes ?? 65_536,
    encoding: 'utf8',
  })
  // Not execa's own time limit: it waits for the pipes, which what the program started may hold open for ever.
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
    child.stdout?.destroy()
    child.stderr?.destroy()
  }, options.timeoutMs)
  const result = await child
  clearTimeout(timer)
  return {
    ok: !result.failed && !isLate,
    exitCode: result.exitCode ?? null,
    stdout: typeof result.stdout === 'string' ? result.stdout : '',
    stderr: typeof result.stderr === 'string' ? result.stderr : '',
    fault: isLate
      ? 'timeout'
      : result.isMaxBuffer
        ? 'output'
        : result.exitCode === undefined && result.signal === undefined
          ? 'start'
          : null,
  }
}

/** A program that stays: lines in on its standard input, lines out of its standard error. */
export type RunningProgram = {
  pid: number | undefined
  write: (text: string) => void
  /** Closes its input and, if it is still there after a moment, kills it. */
  stop: () => void
  kill: () => void
}

/** Starts a program that is kept; `onExit` is called once, also when it could not be started. */
export function startProgram(
  file: string,
  args: readonly string[],
  handlers: { onLine: (line: string) => void; onExit: () => void },
): RunningProgram {
  const child = execa(file, args, {
    reject: false,
    // execa's clean-up listens to our signals and ends the agent before its batch is done.
    cleanup: false,
    buffer: false,
    extendEnv: false,
    env: cleanEnvironment,
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', toLines(handlers.onLine))
  child.stdin.on('error', () => {
    // The pipe of a program that has just ended; onExit tells.
  })
  void child.then(handlers.onExit)
  return {
    pid: child.pid,
    write: (text) => {
      child.stdin.write(text)
    },
    stop: () => {
      child.stdin.end()
      setTimeout(() => child.kill('SIGKILL'), 500).unref()
    },
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}

/** Puts chunks together to whole lines; what has no end yet waits for the next chunk. */
function toLines(onLine: (line: string) => void): (chunk: string) => void {
  let rest = ''
  return (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}
