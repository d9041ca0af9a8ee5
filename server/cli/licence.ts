import { generateKeyPairSync } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { licencePayloadSchema } from '../licence/licence.schema.ts'
import { signLicence } from '../licence/licence-key.ts'
import { newId } from '../platform/random.ts'

/** Where a command writes: results to `out`, faults to `err`. */
export type CommandIo = { out: (text: string) => void; err: (text: string) => void }

const help = `Usage: knoc licence <command>

  keygen --out DIR    makes an Ed25519 key pair: DIR/licence.key (private, readable by you alone)
                      and DIR/licence.pub, for KNOC_LICENCE_PUBLIC_KEY
  issue  --key FILE --users N --sessions N --expires DATE [--overage N] [--machines N] [--to NAME]
                      prints a licence key signed with the private key in FILE

  --users N           users that may be made
  --sessions N        sessions one user may have at once
  --expires DATE      2027-12-31 (its end, UTC) or an ISO instant
  --overage N         percent above --users that are tolerated, 0 to 50 (default 50)
  --machines N        server replicas (default: any number)
  --to NAME           whom it is for
  --help              this text
`

/**
 * `knoc licence …`: makes key pairs and licence keys, offline.
 *
 * @returns the exit code: 0 done, 1 it failed, 2 it was called wrongly.
 */
export async function runLicenceCommand(argv: readonly string[], io: CommandIo): Promise<number> {
  const [command = '', ...rest] = argv
  if (['--help', '-h', 'help'].includes(command) || rest.includes('--help')) {
    io.out(help)
    return 0
  }
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (run === undefined)
    return misused(io, command === '' ? 'a command is missing' : `no command "${command}"`)
  try {
    await run(rest, io)
    return 0
  } catch (error) {
    if (error instanceof z.ZodError)
      return misused(
        io,
        error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('\n'),
      )
    if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true)
      return misused(io, (error as Error).message)
    io.err(`knoc licence: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

const commands: Record<string, (args: string[], io: CommandIo) => Promise<void>> = {
  keygen: makeKeys,
  issue: issueLicence,
}

function misused(io: CommandIo, fault: string): number {
  io.err(`knoc licence: ${fault}\n\n${help}`)
  return 2
}

async function makeKeys(args: string[], io: CommandIo): Promise<void> {
  const { values } = parseArgs({ args, options: { out: { type: 'string' } }, strict: true })
  const { out } = z.object({ out: z.string('is missing').min(1) }).parse(values)
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  await mkdir(out, { recursive: true, mode: 0o700 })
  const files = { private: join(out, 'licence.key'), public: join(out, 'licence.pub') }
  await writeNew(files.private, privateKey.export({ format: 'pem', type: 'pkcs8' }), 0o600)
  await writeNew(files.public, publicKey.export({ format: 'pem', type: 'spki' }), 0o644)
  io.out(`${files.private}\n${files.public}\n`)
}

/** An existing key is never overwritten: licences that it signed would be worth nothing. */
async function writeNew(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

const wholeNumber = z
  .string('is missing')
  .regex(/^\d{1,9}$/, 'is not a whole number')
  .transform(Number)

const issueSchema = z.object({
  key: z.string('is missing').min(1),
  users: wholeNumber,
  sessions: wholeNumber,
  expires: z.string('is missing').transform((text, context) => {
    const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
    const instant = new Date(isDay ? `${text}T23:59:59Z` : text)
    if (!isInstant(text, instant, isDay)) {
      context.addIssue({ code: 'custom', message: 'is neither a date nor an ISO instant' })
      return z.NEVER
    }
    return instant.toISOString()
  }),
  overage: wholeNumber.default(50),
  machines: wholeNumber.optional(),
  to: z.string().max(256).default(''),
})

/** A day that there is (31 February isn't), or an ISO instant. */
function isInstant(text: string, instant: Date, isDay: boolean): boolean {
  if (Number.isNaN(instant.getTime())) return false
  return isDay
    ? instant.toISOString().startsWith(text)
    : z.iso.datetime({ offset: true }).safeParse(text).success
}

async function issueLicence(args: string[], io: CommandIo): Promise<void> {
  const options = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      key: options,
      users: options,
      sessions: options,
      expires: options,
      overage: options,
      machines: options,
      to: options,
    },
    strict: true,
  })
  const { key, users, sessions, expires, overage, machines, to } = issueSchema.parse(values)
  const payload = licencePayloadSchema.parse({
    v: 1,
    id: newId(),
    users,
    sessions,
    overagePercentage: overage,
    machines: machines ?? null,
    expires,
    issuedTo: to,
  })
  io.out(`${signLicence(payload, await readFile(key, 'utf8'))}\n`)
}
