import process from 'node:process'
import { adminCommand } from './cli/admin.ts'
import { type Command, type CommandIo, exitCodes, wantsHelp } from './cli/command.ts'
import { runLicenceCommand } from './cli/licence.ts'
import { migrate } from './cli/migrate.ts'
import { serve } from './cli/serve.ts'
import { validate } from './cli/validate.ts'
import { serverVersion } from './version.ts'

/** Every command of `npx knoc`, in the order of its help. */
const commands: Record<string, Command> = {
  serve,
  migrate,
  validate,
  admin: adminCommand,
  licence: { summary: 'make key pairs and licence keys, offline', run: runLicenceCommand },
}

const io: CommandIo = {
  out: (text) => void process.stdout.write(withNewline(text)),
  err: (text) => void process.stderr.write(withNewline(text)),
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--version') return say(serverVersion)
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') return say(overview())
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    io.err(`There is no command "${name}".\n\n${overview()}`)
    return exitCodes.usage
  }
  if (wantsHelp(args) && command.help !== undefined) return say(command.help)
  try {
    return await command.run(args, io)
  } catch (error) {
    io.err(error instanceof Error ? error.message : String(error))
    return exitCodes.failed
  }
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

function say(text: string): number {
  io.out(text)
  return exitCodes.ok
}

function overview(): string {
  const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  return `Knoc ${serverVersion}: just-in-time network access.

  npx knoc <command> [options]      npx knoc <command> --help

${list.join('\n')}

Exit codes: 0 done, 1 failed, 2 not understood.`
}

process.exit(await main(process.argv.slice(2)))
