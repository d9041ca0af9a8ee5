import { isDeepStrictEqual } from 'node:util'
import type { Kysely } from 'kysely'
import { apiError } from '../errors.ts'
import type { DB } from '../platform/database.types.ts'
import type { BackendChange } from './backend.schema.ts'
import {
  type Backend,
  insertBackend,
  listAclsOfBackend,
  noteCredentials,
  updateBackend,
  updateListSettings,
} from './backend.store.ts'
import { takeAgent, takeBackend } from './backend-agent.ts'
import { getDefinition } from './find-definition.ts'
import { keepListSecrets, keepSecrets, toPaths } from './kept-secrets.ts'
import { refitListSettings } from './list-settings.ts'
import { type SealFor, sealFields } from './seal.ts'
import { deviceOf, isInsecure } from './sealing.schema.ts'
import { splitSettings } from './secret-fields.ts'
import { retarget } from './target.service.ts'
import { recordedNames } from './wire-config.ts'

/** The type that a `Config` names, and its settings. */
export function readConfig(config: Readonly<Record<string, unknown>>): { type: string; settings: unknown } {
  const [[type, settings] = ['', undefined]] = Object.entries(config)
  return { type, settings }
}

/** To whom and for what a backend's secrets are sealed. */
export const sealForBackend = (
  backend: Pick<Backend, 'id' | 'type' | 'config'>,
  agent: SealFor['agent'],
): SealFor => ({
  agent,
  backendId: backend.id,
  type: backend.type,
  device: deviceOf(backend.config),
  insecure: isInsecure(backend.config),
})

/** Makes a backend, inside a transaction. Throws as `splitSettings`, `takeAgent` and `sealFields` do. */
export async function addBackend(
  tx: Kysely<DB>,
  parts: {
    id: string
    name: string
    agentId: string | null
    config: Record<string, unknown>
    by: string
    path: string[]
  },
): Promise<Backend> {
  const { id, name, by } = parts
  const { type, settings } = readConfig(parts.config)
  const definition = getDefinition(type)
  const { plain, given } = splitSettings(definition, settings, { stored: [], path: [...parts.path, type] })
  const agent = await takeAgent(tx, definition, { agentId: parts.agentId, mustFit: true })
  const sealed = sealFields(toPaths(given), sealForBackend({ id, type, config: plain }, agent))
  const backend = { id, name, agentId: agent?.id ?? null, type, config: plain, sealed }
  await insertBackend(tx, { ...backend, by })
  return backend
}

/** What a change of a backend did: `isMoved` when no secret sealed before can be read where it now goes. */
export type BackendChanged = { backend: Backend; isChanged: boolean; isMoved: boolean }

/**
 * Changes a backend and, where its settings really differ, gives its ACLs their new targets: all but `exceptAcl`,
 * which the caller changes itself. Runs inside `rights.change` over `scope`.
 *
 * @throws err.backendTypeFixed; err.credentialsRequired (Extra: the fields) when agent, address or the check of the
 * certificate changed and not every secret came anew; what `addBackend` throws.
 */
export async function changeBackend(
  tx: Kysely<DB>,
  parts: {
    id: string
    name?: string | undefined
    change: BackendChange
    by: string
    path: string[]
    scope: readonly string[]
    exceptAcl?: string
  },
): Promise<BackendChanged> {
  const { backend: before, agent } = await takeBackend(tx, parts.id, {
    mode: 'update',
    agentId: parts.change.AgentID,
  })
  const { plain, given } = readChange(before, parts)
  const after = { ...before, name: parts.name ?? before.name, agentId: agent?.id ?? null, config: plain }
  const isMoved = !isDeepStrictEqual(bindingOf(before), bindingOf(after))
  const isChanged = isMoved || !isDeepStrictEqual(before.config, plain) || Object.keys(given).length > 0
  const sealed = isChanged
    ? {
        ...keepSecrets(before.sealed, { given: toPaths(given), isMoved }),
        ...sealFields(toPaths(given), sealForBackend(after, agent)),
      }
    : before.sealed
  const backend = { ...after, sealed }
  if (isChanged || after.name !== before.name) await updateBackend(tx, { ...backend, by: parts.by })
  if (isChanged)
    await refitAcls(tx, { backend, agent, isMoved, scope: parts.scope, exceptAcl: parts.exceptAcl })
  return { backend, isChanged, isMoved }
}

function readChange(
  before: Backend,
  { change, path }: { change: BackendChange; path: string[] },
): { plain: Record<string, unknown>; given: Record<string, string> } {
  if (change.Config === undefined) return { plain: before.config, given: {} }
  const { type, settings } = readConfig(change.Config)
  if (type !== before.type) throw apiError('err.backendTypeFixed')
  const stored = recordedNames(before.sealed)
  return splitSettings(getDefinition(type), settings, { stored, path: [...path, type] })
}

const bindingOf = ({ agentId, config }: Backend) => [agentId, deviceOf(config), isInsecure(config)]

async function refitAcls(
  tx: Kysely<DB>,
  parts: {
    backend: Backend
    agent: SealFor['agent']
    isMoved: boolean
    scope: readonly string[]
    exceptAcl: string | undefined
  },
): Promise<void> {
  const { backend, agent, isMoved, scope } = parts
  const definition = getDefinition(backend.type)
  for (const acl of await listAclsOfBackend(tx, backend.id)) {
    if (acl.id === parts.exceptAcl) continue
    // An ACL that was hung on the backend after the scope was chosen: its rights are not locked.
    if (!scope.includes(acl.id)) throw apiError('err.changedMeanwhile')
    const stored = { plain: acl.config, sealed: acl.sealed }
    const list = refitListSettings({ definition, backend: backend.config, stored })
    const sealed = {
      ...keepListSecrets(acl.sealed, { keep: list.keep, isMoved }),
      ...sealFields(list.toSeal, sealForBackend(backend, agent)),
    }
    await updateListSettings(tx, { id: acl.id, config: list.plain, sealed })
    await retarget(tx, acl.id, scope)
  }
  await noteCredentials(tx, [backend.id])
}
