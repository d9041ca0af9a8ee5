import { pino } from 'pino'

/** Levels of the agent's log, least urgent first. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** What parts of the agent need of the log. Secrets never go in: no token, no key, no value of a script's variable. */
export type AgentLog = Pick<ReturnType<typeof pino>, 'debug' | 'info' | 'warn' | 'error'>

/** The log on standard error: JSON lines, or short readable lines for a person at a terminal. */
export function createLog({ level, pretty }: { level: LogLevel; pretty: boolean }): AgentLog {
  const options = { level, base: null, redact: ['token', 'key', 'privateKey', 'signature'] }
  return pino(options, {
    write: (line: string) => void process.stderr.write(pretty ? toReadable(line) : line),
  })
}

/** `10:42:07 warn  the set is gone  set=jit4` */
function toReadable(line: string): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const name = pino.levels.labels[Number(level)] ?? 'info'
  const clock = new Date(Number(time)).toISOString().slice(11, 19)
  const rest = Object.entries(fields).map(([key, value]) => `  ${key}=${toShort(value)}`)
  return `${clock} ${name.padEnd(5)} ${String(msg)}${rest.join('')}\n`
}

const toShort = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
