import { parseArgs } from 'node:util'
import { ConfigFault, readConfig } from '../config.ts'
import type { startAgain } from '../devices.ts'
import { agentVersion } from '../version.ts'
import { doctor } from './doctor.ts'
import { type CommandName, commandNames, helpText } from './help.ts'
import { runAgent } from './run.ts'
import { sets } from './sets.ts'
import { status } from './status.ts'

/** 0 all right, 1 it failed, 2 it was asked for wrongly, 3 to the launcher: start it again. */
export type ExitCode = 0 | 1 | 2 | typeof startAgain

const commands = { run: runAgent, status, doctor, sets } as const

const options = {
  server: { type: 'string' },
  token: { type: 'string' },
  data: { type: 'string' },
  ca: { type: 'string' },
  forget: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const

/** Flags each command takes, beside --help. */
const flagsOf: Readonly<Record<CommandName, readonly string[]>> = {
  run: ['server', 'token', 'data', 'ca'],
  status: ['data'],
  doctor: ['data'],
  sets: ['data', 'forget'],
}

/** `knoc-agent …`: does what the command line asks and answers the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<ExitCode> {
  const parsed = parse(args)
  if ('fault' in parsed) return refuse(parsed.fault)
  const { values, positionals } = parsed
  const [word, ...surplus] = positionals
  const name = commandNames.find((known) => known === word)
  if (values.version === true) return say(agentVersion)
  if (values.help === true) return say(helpText(name))
  if (word === undefined) return refuse('say what to do')
  if (name === undefined) return refuse(`there is no command ${JSON.stringify(word)}`)
  if (surplus.length > 0) return refuse(`${JSON.stringify(surplus[0])} is one word too many`)
  const foreign = Object.keys(values).find((flag) => !flagsOf[name].includes(flag))
  if (foreign !== undefined) return refuse(`${name} takes no --${foreign}`)
  try {
    return await commands[name](readConfig(values), { forget: values.forget })
  } catch (error) {
    if (error instanceof ConfigFault) return refuse(error.message)
    console.error(`knoc-agent: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function say(text: string): ExitCode {
  console.log(text)
  return 0
}

function refuse(fault: string): ExitCode {
  console.error(`knoc-agent: ${fault}\nTry: knoc-agent --help`)
  return 2
}
