import { existsSync, readFileSync } from 'node:fs'
import { env } from 'node:process'
import { runAgent } from '#agent/cli/run.ts'
import type { HostClock } from '#agent/clock.ts'
import { readConfig } from '#agent/config.ts'
import type { ClockFile } from './clock-file.ts'

/**
 * The agent as `knoc-agent run` composes it, on a host whose wall clock the storm sets and whose boots it counts:
 * both are read from the file CHAOS_CLOCK, again and again.
 */
const path = env['CHAOS_CLOCK'] ?? ''

const read = (): ClockFile =>
  existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as ClockFile)
    : { wallOffsetMs: 0, bootId: 'boot', bootedAtMs: 0 }

const { bootId, bootedAtMs } = read()
const host: HostClock = {
  wallNow: () => Date.now() + read().wallOffsetMs,
  monotonicNow: () => performance.now(),
  uptimeNow: () => Date.now() - bootedAtMs,
  bootAtStart: Date.now() - bootedAtMs,
  bootId,
}
process.exitCode = await runAgent(readConfig({}), { host })
