import { accessSync, constants, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { TargetDescription } from '#machines/protocol.ts'
import { definitions } from '#server/backends/definitions/index.ts'
import { listVariable } from '#server/backends/sealing.schema.ts'
import { parseAddress, toCidr } from '../address.ts'
import { run } from '../command.ts'
import type { Unseal } from '../unseal.ts'
import { brokenDriver } from './broken.ts'
import type { Driver, DriverError, Outcome } from './driver.ts'

/** `folder` is undefined while the agent's own configuration does not allow scripts. */
export type ScriptDeps = { folder: string | undefined; timeoutMs: number; unseal: Unseal }

type Action = 'add' | 'del' | 'flush'

/**
 * An administrator's command that opens and closes by its own means.
 *
 * It gets the action, the ACL's name and the address as arguments, the same as `knoc_…` variables, and the
 * variables of backend and knoc. Exit 0 is success, which is reported, not verified. Nobody else's environment,
 * no shell, and only commands of the script folder. Specification, "Script backend" and "Script variables".
 */
export function scriptDriver(deps: ScriptDeps, target: TargetDescription): Driver {
  const settings = readSettings(target, deps.unseal)
  if ('code' in settings) return brokenDriver(settings)

  const call = async (
    action: Action,
    address: string | null,
    userName: string,
  ): Promise<DriverError | null> => {
    const command = findCommand(deps.folder, settings.command)
    if (typeof command !== 'string') return command
    const parsed = address === null ? undefined : parseAddress(address)
    if (address !== null && parsed === undefined) return { code: 'badAddress', text: 'not a plain address' }
    if (userName.includes('\0')) return { code: 'badTarget', text: 'the user name holds a zero byte' }
    const result = await run(command, [action, settings.aclName, ...(parsed ? [parsed.text] : [])], {
      timeoutMs: deps.timeoutMs,
      ...(deps.folder === undefined ? {} : { cwd: deps.folder }),
      env: {
        ...settings.variables,
        knoc_action: action,
        knoc_aclname: settings.aclName,
        knoc_username: userName,
        ...(parsed && { knoc_cidr: toCidr(parsed), knoc_ipaddr: parsed.text.split('/')[0] ?? '' }),
      },
    })
    if (result.ok) return null
    if (result.fault === 'timeout') {
      return { code: 'timeout', text: `the script took longer than ${deps.timeoutMs / 1000} s` }
    }
    return { code: 'scriptFailed', text: lastLine(result.stderr) ?? describe(result) }
  }

  const callEach = async (
    action: Action,
    entries: readonly { address: string; userName: string }[],
  ): Promise<Outcome[]> => {
    const outcomes: Outcome[] = []
    for (const { address, userName } of entries) {
      const error = await call(action, address, userName)
      outcomes.push(
        error === null
          ? { address, outcome: 'reported', error: null }
          : { address, outcome: 'failed', error },
      )
    }
    return outcomes
  }

  return {
    // One at a time: a close that comes in the meantime is next.
    batchSize: 1,
    open: (entries) => callEach('add', entries),
    close: (entries) => callEach('del', entries),
    list: async () => 'unlistable',
    ensure: async () => {
      const command = findCommand(deps.folder, settings.command)
      return typeof command === 'string' ? null : command
    },
    empty: () => call('flush', null, ''),
  }
}

/** The commands of the script folder that may be run, for the capabilities and the launcher's permissions. */
export function listScripts(folder: string | undefined): string[] {
  if (folder === undefined) return []
  try {
    return readdirSync(folder)
      .filter((name) => typeof findCommand(folder, name) === 'string')
      .sort()
  } catch {
    return []
  }
}

/**
 * Full path of a command, or why it may not be run: outside the folder (links are followed first), no program,
 * or one that others than its owner may change.
 */
export function findCommand(folder: string | undefined, command: string): string | DriverError {
  if (folder === undefined) {
    return {
      code: 'scriptsOff',
      text: 'scripts are off on this agent; `"scripts": true` in agent.json allows them',
    }
  }
  const refuse = (text: string): DriverError => ({ code: 'scriptNotAllowed', text: `${command}: ${text}` })
  if (command.includes('\0')) return refuse('not a file name')
  try {
    const root = realpathSync(folder)
    const path = realpathSync(
      join(root, command.startsWith(`${root}${sep}`) ? command.slice(root.length) : command),
    )
    if (!path.startsWith(`${root}${sep}`)) return refuse('is not in the agent’s script folder')
    const { mode } = statSync(path)
    if (!statSync(path).isFile()) return refuse('is not a file')
    if ((mode & 0o022) !== 0) return refuse('can be changed by its group or by everybody (chmod go-w)')
    accessSync(path, constants.X_OK)
    return path
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    return refuse(
      code === 'EACCES' ? 'is not executable for the agent' : 'is not in the agent’s script folder',
    )
  }
}

type Settings = { command: string; aclName: string; variables: Record<string, string> }

/** The server's own schemas read the settings, so names it would refuse are refused here too. */
function readSettings(target: TargetDescription, unseal: Unseal): Settings | DriverError {
  const backend = definitions.script.backend.safeParse(target.backend)
  const acl = definitions.script.acl.safeParse(target.list)
  if (!backend.success || !acl.success) {
    return { code: 'badTarget', text: 'the order names no usable command, ACL or variables' }
  }
  const variables: Record<string, string> = {}
  for (const [name, held] of Object.entries(acl.data.EnvVars)) {
    const value = held.Encrypted ? unseal(target, listVariable(name)) : held.Value
    // Sealed to another key or for another use: nothing is run half configured.
    if (value === undefined) return { code: 'needsCredentials', text: `the value of ${name} is not readable` }
    variables[name] = value
  }
  return { command: backend.data.Command, aclName: acl.data.Name, variables }
}

const lastLine = (text: string): string | undefined =>
  text.trim().split('\n').at(-1)?.trim().slice(0, 500) || undefined

const describe = (result: { exitCode: number | null; fault: string | null }): string =>
  result.fault === 'start'
    ? 'the script could not be started'
    : `the script ended with ${result.exitCode ?? 'a signal'}`
