import { randomBytes } from 'node:crypto'
import { resetAdminPassword } from '../admins/reset-admin.ts'
import { ApiError } from '../errors.ts'
import { openDatabase } from '../open-database.ts'
import { readConfig } from '../platform/config.ts'
import { createDatabase } from '../platform/database.ts'
import { createLog } from '../platform/log.ts'
import { createPasswordHasher } from '../platform/password.ts'
import { type Command, exitCodes, usageError } from './command.ts'

const secondFactorOption = '--second-factor'

/** `knoc admin reset NAME`: a lost administrator's password, made anew, and his second factor taken away on request. */
export const adminCommand: Command = {
  summary: "make a lost administrator's password anew",
  help: `npx knoc admin reset USERNAME [--second-factor]

Gives the administrator a new random password, prints it, enables the account and ends its sessions.
--second-factor also takes the second factor away (codes, recovery codes, passkeys), for the
administrator who has lost it and has no colleague to ask; who must have one enrols at the next sign-in.
With the embedded database the server has to be stopped first.
`,
  async run(args, io) {
    const options = args.filter((arg) => arg.startsWith('-'))
    const [action, userName, ...rest] = args.filter((arg) => !arg.startsWith('-'))
    const unknown = options.find((option) => option !== secondFactorOption) ?? rest[0]
    if (unknown !== undefined) return usageError(io, `What is "${unknown}"?`, 'knoc admin')
    if (action !== 'reset' || userName === undefined)
      return usageError(io, 'Say which administrator: knoc admin reset USERNAME.', 'knoc admin')
    const withSecondFactor = options.includes(secondFactorOption)
    const config = readConfig(process.env)
    const database = await openDatabase(config, createLog(config))
    const { db, close } = createDatabase(database.connection, { max: 2, applicationName: 'knoc admin' })
    try {
      const password = randomBytes(15).toString('base64url')
      await resetAdminPassword(
        { db, passwords: createPasswordHasher() },
        { userName, newPassword: password, withSecondFactor },
      )
      io.out(`New password of ${userName}: ${password}`)
      if (withSecondFactor) io.out('The second factor was taken away.')
      return exitCodes.ok
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'err.notFound')) throw error
      io.err(`There is no administrator "${userName}".`)
      return exitCodes.failed
    } finally {
      await close()
      await database.stop()
    }
  },
}
