import { asSuperuser } from './database.ts'
import type { Site } from './site.ts'

/** A backup of a site's database as it is; nobody may be connected, so whoever is gets thrown out. */
export async function copyDatabase(site: Site): Promise<string> {
  const name = site.database.connection.database
  await throwOut(name)
  await asSuperuser(`create database ${name}_backup template ${name} owner knoc`)
  return `${name}_backup`
}

/** Puts the backup in the database's place. */
export async function restoreDatabase(site: Site, backup: string): Promise<void> {
  const name = site.database.connection.database
  await throwOut(name)
  await asSuperuser(`drop database ${name} with (force)`)
  await asSuperuser(`alter database ${backup} rename to ${name}`)
}

const throwOut = (name: string) =>
  asSuperuser('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
