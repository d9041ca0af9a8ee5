import process from 'node:process'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { findDatabase } from '../open-database.ts'
import { readConfig } from '../platform/config.ts'
import { createDatabase, databaseLimits } from '../platform/database.ts'
import { counts, runValidation, type ValidationOptions } from '../validation/validate.service.ts'
import { type Command, type CommandIo, exitCodes, usageError } from './command.ts'
import { toJson, toLookLine, toText } from './validate-report.ts'

/** Beside those of all our commands: nothing could be compared. */
const notAsked = 3

/** Connections: each agent that is asked at once has one at work. */
const connections = 8

/** It looks at everything there is, and nobody waits behind it. */
const limits = { ...databaseLimits, statement: 60_000, answer: 65_000 }

/** `knoc validate`: desired against actual, everywhere. */
export const validate: Command = {
  summary: 'compare what should be open with what is, on every agent',
  help: `npx knoc validate [--settle SECONDS] [--timeout SECONDS] [--ignore-foreign] [--accept-reported] [--json]

Compares what the database wants open with what really stands on every agent's lists, address by address,
and prints each difference. It runs beside a server, on its host (KNOC_DATA_DIR) or with its DATABASE_URL,
and changes nothing.

  --settle SECONDS    how long a difference has to last before it counts, 0 to 600 (default 5): a door that
                      opens or closes at this moment is no difference
  --timeout SECONDS   how long one agent may take for its answer, 1 to 300 (default 10)
  --ignore-foreign    entries that Knoc never ordered are told but don't count, such as an admin's own
  --accept-reported   lists that nobody can look into (scripts) are told but don't count
  --json              one JSON object, for programs

Exit codes: 0 nothing differs, 1 differences, 2 asked for wrongly, 3 the database can't be asked.
`,
  async run(args, io) {
    const asked = readOptions(args)
    if (typeof asked === 'string') return usageError(io, asked, 'knoc validate')
    try {
      return await compare(asked, io)
    } catch (error) {
      io.err(`Nothing was compared. ${plainWords(error)}`)
      return notAsked
    }
  },
}

type Asked = Required<
  Pick<ValidationOptions, 'settleSeconds' | 'timeoutSeconds' | 'ignoreForeign' | 'acceptReported'>
> & {
  json: boolean
}

async function compare(asked: Asked, io: CommandIo): Promise<number> {
  const connection = await findDatabase(readConfig(process.env))
  const { db, close } = createDatabase(connection, {
    max: connections,
    applicationName: 'knoc validate',
    limits,
  })
  const startedAt = performance.now()
  try {
    const report = await runValidation(db, {
      ...asked,
      onLook: (look) => process.stderr.isTTY && io.err(toLookLine(look)),
    })
    const seconds = (performance.now() - startedAt) / 1000
    io.out(asked.json ? toJson(report, asked, seconds) : toText(report, asked, seconds))
    return report.differences.some(({ kind }) => counts(kind, asked)) ? exitCodes.failed : exitCodes.ok
  } finally {
    await Promise.race([close(), wait(1_000, undefined, { ref: false })])
  }
}

const seconds = (least: number, most: number) => z.coerce.number().min(least).max(most)

/** What was asked for, or what is wrong with it. */
function readOptions(args: readonly string[]): Asked | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      strict: true,
      options: {
        settle: { type: 'string', default: '5' },
        timeout: { type: 'string', default: '10' },
        'ignore-foreign': { type: 'boolean', default: false },
        'accept-reported': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    })
    const settle = seconds(0, 600).safeParse(values.settle || undefined)
    const timeout = seconds(1, 300).safeParse(values.timeout || undefined)
    if (!settle.success) return '--settle takes 0 to 600 seconds.'
    if (!timeout.success) return '--timeout takes 1 to 300 seconds.'
    return {
      settleSeconds: settle.data,
      timeoutSeconds: timeout.data,
      ignoreForeign: values['ignore-foreign'],
      acceptReported: values['accept-reported'],
      json: values.json,
    }
  } catch (error) {
    return plainWords(error)
  }
}

/** The first that says something: PostgreSQL's driver joins the tries of several addresses in one without words. */
function plainWords(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return plainWords(error.errors[0])
  const words = error instanceof Error ? error.message : String(error)
  return words === '' ? 'The database does not answer.' : words
}
