// Starts a program of ours on the Deno that comes with the package. Plain JavaScript without dependencies, because
// npm's own Node runs it; the command lines `npx knoc` and `npx knoc-agent` are made of it.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** Path of the Deno program of this platform. Deno's packages are named by platform and architecture. */
export function findDeno() {
  const suffix = process.platform === 'linux' ? '-glibc' : ''
  const name = `@deno/${process.platform}-${process.arch}${suffix}`
  try {
    const folder = dirname(require.resolve(`${name}/package.json`))
    return join(folder, process.platform === 'win32' ? 'deno.exe' : 'deno')
  } catch {
    throw new Error(
      `Deno for this platform (${name}) is not installed. Run \`npm ci\` in the product's folder.`,
    )
  }
}

/**
 * Runs `deno run` with these flags and the program's own arguments, hands signals on, and ends with its exit code.
 * Ctrl-C reaches the child by the terminal already; it decides when to end.
 */
export function runDeno({ flags, script, args, env = {} }) {
  const child = spawn(findDeno(), ['run', '--quiet', '--no-prompt', ...flags, script, ...args], {
    stdio: 'inherit',
    env: { ...process.env, DENO_NO_UPDATE_CHECK: '1', ...env },
  })
  process.on('SIGINT', () => undefined)
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    console.error(`Deno could not be started: ${error.message}`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 130)))
}
