import { randomBytes } from 'node:crypto'
import { writeAudit } from '../audit/audit.store.ts'
import { isLeaked } from '../auth/passwords/new-password.service.ts'
import type { Deps } from '../context.ts'
import type { Config } from '../platform/config.ts'
import { inTransaction } from '../platform/database.ts'
import { hasAdmins, insertOwner, lockFirstAdmin } from './admin.store.ts'

/** Name and password of an admin just made, to be shown once. */
export type FirstAdmin = { userName: string; password: string }

/**
 * Makes the first administrator when there is none: as the environment says, else `admin` with a random password.
 *
 * `announce` is called once, after the commit, only when the password was drawn here. If the process dies before,
 * the password is lost and `knoc admin reset` gives another. A leaked password in the environment is a warning and no
 * refusal: a server that doesn't start helps nobody. Specification README "First start".
 */
export async function ensureFirstAdmin(
  {
    db,
    passwords,
    config,
    log,
  }: Pick<Deps, 'db' | 'passwords' | 'log'> & { config: Pick<Config, 'adminUsername' | 'adminPassword'> },
  announce: (admin: FirstAdmin) => void,
): Promise<void> {
  if (await hasAdmins(db.grants)) return
  const given = toGiven(config)
  const admin = given ?? { userName: 'admin', password: randomBytes(15).toString('base64url') }
  if (given !== undefined && (await isLeaked(given.password)))
    log.warn('KNOC_ADMIN_PASSWORD is on the list of leaked passwords: change it in the console')
  const passwordHash = await passwords.hashPassword(admin.password)
  const isMade = await inTransaction(db.grants, async (tx) => {
    await lockFirstAdmin(tx)
    if (await hasAdmins(tx)) return false
    await insertOwner(tx, { name: admin.userName, userName: admin.userName, passwordHash })
    const fields = { AdminName: admin.userName, Description: 'first start' }
    await writeAudit(tx, [{ kind: 'CreateAdmin', fields }])
    return true
  })
  if (isMade && given === undefined) announce(admin)
}

function toGiven({
  adminUsername,
  adminPassword,
}: Pick<Config, 'adminUsername' | 'adminPassword'>): FirstAdmin | undefined {
  if (adminUsername === undefined || adminPassword === undefined) return undefined
  return { userName: adminUsername, password: adminPassword.expose() }
}
