import { isatty } from 'node:tty'
import { destination, type Logger, pino } from 'pino'
import type { Config } from './config.ts'
import { toLogLine } from './log-line.ts'

/** A structured log; `log.child({ … })` adds facts to every line. */
export type Log = Logger

/** Where lines go. */
export interface LogDestination {
  write: (line: string) => void
}

const secretKeys = [
  'password',
  'token',
  'secret',
  'authorization',
  'cookie',
  'masterKey',
  'privateKey',
  'databaseUrl',
  'redisUrl',
]
const spellings = secretKeys
  .flatMap((key) => [key, key.charAt(0).toUpperCase() + key.slice(1)])
  .concat('set-cookie')

/**
 * The log of this process: one JSON object a line on stderr, or one readable line each when stderr is a
 * terminal. What is called password, token, cookie and the like is never written, three levels deep; a
 * `Secret` hides itself. Level `error` means that somebody must act now.
 */
export function createLog(
  { logLevel, replica }: Pick<Config, 'logLevel' | 'replica'>,
  to: LogDestination = isatty(2) ? terminal() : destination({ fd: 2, sync: true }),
): Log {
  const paths = spellings.flatMap((key) => [`["${key}"]`, `*["${key}"]`, `*.*["${key}"]`])
  return pino(
    {
      level: logLevel,
      base: { replica },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '«secret»' },
    },
    to,
  )
}

function terminal(): LogDestination {
  return { write: (line) => void process.stderr.write(toLogLine(line)) }
}
