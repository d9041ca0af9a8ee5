import { type RunningProgram, startProgram } from '../command.ts'

/** The long-lived `ipset -`: groups of command lines in, what ipset said about each group out. */
export type IpsetPipe = {
  /**
   * Carries out each group and answers its output lines, group by group. A command that succeeds says nothing.
   *
   * @throws PipeFault when the program can't be started, ended in the middle or did not answer in time; how far it
   * got is then unknown, and the caller's commands must be such that they may be given again.
   */
  run: (groups: readonly (readonly string[])[]) => Promise<string[][]>
  /** Process id of the program now running, for tests and `doctor`. */
  pid: () => number | undefined
  stop: () => void
}

/** Why the pipe gave no answer. */
export class PipeFault extends Error {
  readonly reason: 'timeout' | 'gone'

  constructor(reason: 'timeout' | 'gone') {
    super(reason === 'timeout' ? 'ipset did not answer in time' : 'ipset ended unexpectedly')
    this.reason = reason
  }
}

/** Every line that may be written: printable, no newline, no quote, so that one line stays one command. */
const safeLine = /^[A-Za-z0-9_.:/ -]{1,200}$/
/** The fence comes back inside ipset's complaint about an unknown type: `typename 'fence:17' is unknown`. */
const fencePattern = /fence:(\d+)/

type Waiting = {
  fence: number
  lines: string[]
  resolve: (lines: string[]) => void
  reject: (fault: PipeFault) => void
}

/**
 * One `ipset -` for all sets, started when first needed and again when it died: 40 µs an order instead of 1 ms
 * for a process each. After each group a fence is written, a command that only ipset's parser sees and whose
 * complaint carries our number, because ipset itself says neither when a command is done nor which one failed.
 */
export function createIpsetPipe(deps: { ipset: string; answerWithinMs?: number }): IpsetPipe {
  const answerWithinMs = deps.answerWithinMs ?? 5_000
  let program: RunningProgram | undefined
  let waiting: Waiting[] = []
  let fence = 0
  let watchdog: ReturnType<typeof setTimeout> | undefined

  const fail = (reason: 'timeout' | 'gone') => {
    const failed = waiting
    waiting = []
    program = undefined
    clearTimeout(watchdog)
    watchdog = undefined
    for (const group of failed) group.reject(new PipeFault(reason))
  }

  const watch = () => {
    clearTimeout(watchdog)
    watchdog = undefined
    if (waiting.length === 0) return
    watchdog = setTimeout(() => {
      const hung = program
      fail('timeout')
      hung?.kill()
    }, answerWithinMs)
  }

  const start = (): RunningProgram => {
    const started = startProgram(deps.ipset, ['-'], {
      onLine: (line) => {
        if (program === started) takeLine(line)
      },
      onExit: () => {
        if (program === started) fail('gone')
      },
    })
    return started
  }

  const takeLine = (line: string) => {
    const group = waiting[0]
    if (group === undefined) return
    if (Number(fencePattern.exec(line)?.[1]) !== group.fence) {
      group.lines.push(line)
      return
    }
    waiting.shift()
    group.resolve(group.lines)
    watch()
  }

  return {
    run: async (groups) => {
      if (!groups.flat().every((line) => safeLine.test(line))) {
        throw new Error('a command for ipset holds a character that it must not')
      }
      program ??= start()
      const answers = groups.map((): Promise<string[]> => {
        const { promise, resolve, reject } = Promise.withResolvers<string[]>()
        waiting.push({ fence: (fence += 1), lines: [], resolve, reject })
        return promise
      })
      const first = fence - groups.length + 1
      program.write(groups.map((lines, index) => toText(lines, first + index)).join(''))
      if (watchdog === undefined) watch()
      return Promise.all(answers)
    },
    pid: () => program?.pid,
    stop: () => {
      const last = program
      fail('gone')
      last?.stop()
    },
  }
}

const toText = (lines: readonly string[], fence: number): string =>
  `${lines.join('\n')}\ncreate knocfence fence:${fence}\n`
