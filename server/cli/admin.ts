import { randomBytes } from 'node:crypto'
import { resetAdminPassword } from '../admins/reset-admin.ts'
import { ApiError } from '../errors.ts'
import { openDatabase } from '../open-database.ts'
import { readConfig } from '../platform/config.ts'
import { createDatabase } from '../platform/database.ts'
import { createLog } from '../platform/log.ts'
import { createPasswordHasher } from '../platform/password.ts'
import { type Command, exitCodes, usageError } from './command.ts'

/** `knoc admin reset NAME`: a lost administrator's password, made anew. */
export const adminCommand: Command = {
  summary: "make a lost administrator's password anew",
  help: `npx knoc admin reset USERNAME

Gives the administrator a new random password, prints it, enables the account and ends its sessions.
With the embedded database the server has to be stopped first.
`,
  async run([action, userName], io) {
    if (action !== 'reset' || userName === undefined)
      return usageError(io, 'Say which administrator: knoc admin reset USERNAME.', 'knoc admin')
    const config = readConfig(process.env)
    const database = await openDatabase(config, createLog(config))
    const { db, close } = createDatabase(database.connection, { max: 2, applicationName: 'knoc admin' })
    try {
      const password = randomBytes(15).toString('base64url')
      await resetAdminPassword({ db, passwords: createPasswordHasher() }, { userName, newPassword: password })
      io.out(`New password of ${userName}: ${password}`)
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
