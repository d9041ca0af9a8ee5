import { z } from 'zod'
import { apiError } from '../errors.ts'
import type { Definition } from './definitions/definition.ts'
import { lost } from './seal.ts'
import { listVariable, type Sealed } from './sealing.schema.ts'
import { checkSettings, recorded } from './secret-fields.ts'

/** What an ACL says of its list: plain settings, secrets given now, and recorded ones that stay; by path. */
export type ListSettings = { plain: Record<string, unknown>; toSeal: Record<string, string>; keep: string[] }

/** An ACL's list as it is recorded. */
export type StoredList = { plain: Readonly<Record<string, unknown>>; sealed: Sealed }

/**
 * Checks an ACL's settings against its kind. Values of variables that the backend declares sensitive are taken out
 * to be sealed and read `{Value: '', Encrypted: true}` from then on; an empty or RECORDED value keeps the recorded
 * one. Specification README "Script variables", "Secrets in answers and updates".
 *
 * @throws err.invalidEnvVarName for a variable the backend doesn't declare; err.invalidField for one without a
 * value; err.credentialsRequired for one that was sensitive and is to be read again; what the kind's schema says.
 */
export function readListSettings({
  definition,
  settings,
  backend,
  stored,
  path,
}: {
  definition: Definition
  settings: unknown
  /** Plain settings of the backend. */
  backend: Readonly<Record<string, unknown>>
  stored: StoredList | null
  path: readonly string[]
}): ListSettings {
  const plain = checkSettings(definition.acl, settings, path)
  if (!('EnvVars' in definition.acl.shape)) return { plain, toSeal: {}, keep: [] }
  const declared = new Map(declaredVariables(backend).map(({ Name, Sensitive }) => [Name, Sensitive]))
  const chosen = Object.entries(variablesOf(plain)).map(([name, { Value }]) => {
    const isSensitive = declared.get(name)
    const extra = [...path, 'EnvVars', name].join('.')
    if (isSensitive === undefined) throw apiError('err.invalidEnvVarName', { extra })
    return chooseValue({ name, isSensitive, stored, value: Value === recorded ? '' : Value, extra })
  })
  return {
    plain: { ...plain, EnvVars: Object.fromEntries(chosen.map(({ name, variable }) => [name, variable])) },
    toSeal: Object.fromEntries(
      chosen.flatMap(({ name, secret }) => (secret === undefined ? [] : [[listVariable(name), secret]])),
    ),
    keep: chosen.flatMap(({ name, isKept }) => (isKept ? [listVariable(name)] : [])),
  }
}

/**
 * An ACL's recorded settings as its backend's new variables want them: what is no longer declared goes, and what
 * became sensitive is sealed.
 */
export const refitListSettings = (
  parts: Omit<Parameters<typeof readListSettings>[0], 'settings' | 'path'> & { stored: StoredList },
): ListSettings => {
  const { plain } = parts.stored
  if (!('EnvVars' in parts.definition.acl.shape)) return { plain: { ...plain }, toSeal: {}, keep: [] }
  const names = new Set(declaredVariables(parts.backend).map(({ Name }) => Name))
  const EnvVars = Object.fromEntries(Object.entries(variablesOf(plain)).filter(([name]) => names.has(name)))
  return readListSettings({ ...parts, settings: { ...plain, EnvVars }, path: ['ACL', 'Config'] })
}

type Variable = { Value: string; Encrypted: boolean }

type Chosen = { name: string; variable: Variable; secret?: string; isKept?: boolean }

const encrypted: Variable = { Value: '', Encrypted: true }

function chooseValue(parts: {
  name: string
  isSensitive: boolean
  value: string
  stored: StoredList | null
  extra: string
}): Chosen {
  const { name, isSensitive, value, stored, extra } = parts
  const sealed = stored?.sealed[listVariable(name)]
  if (!isSensitive && value !== '') return { name, variable: { Value: value, Encrypted: false } }
  if (!isSensitive)
    throw apiError(sealed === undefined ? 'err.invalidField' : 'err.credentialsRequired', { extra })
  if (value !== '') return { name, variable: encrypted, secret: value }
  if (sealed !== undefined && sealed !== lost) return { name, variable: encrypted, isKept: true }
  if (sealed === lost) throw apiError('err.credentialsRequired', { extra })
  const before = stored === null ? '' : (variablesOf(stored.plain)[name]?.Value ?? '')
  if (before === '') throw apiError('err.invalidField', { extra })
  return { name, variable: encrypted, secret: before }
}

const declarationsSchema = z.array(z.object({ Name: z.string(), Sensitive: z.boolean() })).catch([])
const declaredVariables = (backend: Readonly<Record<string, unknown>>) =>
  declarationsSchema.parse(backend['EnvVars'])

const variablesSchema = z
  .record(z.string(), z.object({ Value: z.string(), Encrypted: z.boolean() }))
  .catch({})
const variablesOf = (plain: Readonly<Record<string, unknown>>): Record<string, Variable> =>
  variablesSchema.parse(plain['EnvVars'])
