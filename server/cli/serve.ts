import { configVariables, readConfig } from '../platform/config.ts'
import { createLog } from '../platform/log.ts'
import { startServer } from '../start-server.ts'
import { type Command, exitCodes } from './command.ts'

/** `knoc serve`: the server, until it is told to stop. */
export const serve: Command = {
  summary: 'run the server (portal, console, API, agents)',
  help: `npx knoc serve

Runs the server until SIGTERM or Ctrl-C. Without DATABASE_URL it brings its own PostgreSQL,
with its data under KNOC_DATA_DIR. Settings come from the environment:

${configVariables.map((variable) => `  ${variable.name.padEnd(26)} ${variable.description}`).join('\n')}
`,
  async run(_args, io) {
    const config = readConfig(process.env)
    const log = createLog(config)
    const server = await startServer(config, log, ({ userName, password }) =>
      io.out(
        `First administrator: ${userName}\nPassword: ${password}\nIt is shown this once; change it after signing in.`,
      ),
    )
    // Before it says that it is ready: who reads that may tell it to stop at once.
    const stopped = untilStopped()
    io.out(`Knoc is ready at ${config.publicUrl} (console: ${config.publicUrl}/admin)`)
    await stopped
    log.info('stopping')
    await server.stop()
    return exitCodes.ok
  },
}

/**
 * Resolves at the first signal; a second one ends the process at once. One listener counts both: Deno would call a
 * second one, added while the first signal is told, for that same signal.
 */
function untilStopped(): Promise<void> {
  let signals = 0
  return new Promise((resolve) => {
    const take = () => {
      signals += 1
      if (signals > 1) process.exit(exitCodes.failed)
      resolve()
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, take)
  })
}
