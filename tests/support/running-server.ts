import { fileURLToPath } from 'node:url'
import type { DatabaseConnection } from '#server/platform/database-connection.ts'
import { startProgram, type TestProcess } from './process.ts'

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

type Place = (command: readonly string[]) => readonly string[]

/** `knoc serve` in a process of its own, with nothing of this process's settings; resolves when it is ready. */
export async function startServerProcess({
  place,
  env,
}: {
  place: Place
  env: Record<string, string>
}): Promise<TestProcess & { readyMs: number }> {
  const startedAt = performance.now()
  const server = startProgram(
    place([
      process.execPath,
      'run',
      '--quiet',
      '--no-prompt',
      '--allow-all',
      root('server/main.ts'),
      'serve',
    ]),
    { DATABASE_URL: '', REDIS_URL: '', KNOC_LOG_LEVEL: 'info', ...env },
  )
  await server.said(/^Knoc is ready/, 60_000)
  return { ...server, readyMs: performance.now() - startedAt }
}

/**
 * `knoc-agent` in a process of its own: by its launcher, with the narrow rights that customers give it, or with
 * `quick` without it, which saves a second for tests that start it often.
 */
export function startAgentProcess({
  place,
  server,
  data,
  token,
  quick = false,
  program: main = 'agent/main.ts',
  env = {},
  command = ['run'],
}: {
  place: Place
  server: string
  data: string
  token?: string
  quick?: boolean
  /** With `quick`: what to run in the place of the agent's own start. */
  program?: string
  env?: Record<string, string>
  command?: readonly string[]
}): TestProcess {
  const program = quick
    ? [process.execPath, 'run', '--quiet', '--no-prompt', '--allow-all', root(main)]
    : ['node', root('agent/knoc-agent.mjs')]
  return startProgram(place([...program, ...command]), {
    KNOC_SERVER: server,
    KNOC_AGENT_DATA: data,
    KNOC_AGENT_TOKEN: token ?? '',
    ...env,
  })
}

/** DATABASE_URL of a database that is reached through the folder of a Unix socket. */
export function toDatabaseUrl(connection: Extract<DatabaseConnection, { host: string }>): string {
  const { host, user, password, database } = connection
  const credentials = `${user}:${encodeURIComponent(password.expose())}`
  return `postgres://${credentials}@localhost/${database}?host=${encodeURIComponent(host)}`
}
