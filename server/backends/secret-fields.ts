import { z } from 'zod'
import { toRefusal } from '../platform/http/validate.ts'
import { type Definition, field } from './definitions/definition.ts'

/** How a recorded secret reads, and what an update sends to keep it. */
export const recorded = 'RECORDED'

/** Names of a kind's secret fields, by the hint that stands on them. */
export const secretNames = (definition: Definition): string[] =>
  Object.entries(definition.backend.shape).flatMap(([name, schema]) => (isSecret(schema) ? [name] : []))

/** A hint may stand on a field or on what its `optional()` or `default()` wraps: missing it would store a secret plain. */
function isSecret(schema: z.core.$ZodType): boolean {
  if (field.get(schema as z.ZodType)?.secret === true) return true
  return 'unwrap' in schema && typeof schema.unwrap === 'function' && isSecret(schema.unwrap() as z.ZodType)
}

/** A backend's settings, the secrets apart. */
export type SplitSettings = {
  plain: Record<string, unknown>
  /** Secrets given now, by name. */
  given: Record<string, string>
}

/**
 * Checks a backend's settings against its kind and takes the secrets out. A secret that is absent, empty or
 * RECORDED is kept when it is one of `stored`, else it is missing.
 *
 * @throws err.badRequest or the rule's code, Extra the field under `path`.
 */
export function splitSettings(
  definition: Definition,
  settings: unknown,
  { stored, path }: { stored: readonly string[]; path: readonly string[] },
): SplitSettings {
  const secrets = secretNames(definition)
  const absent = secrets.filter((name) => isAbsent(settings, name))
  const kept = absent.filter((name) => stored.includes(name))
  const parsed = checkSettings(withOptional(definition.backend, kept), without(settings, absent), path)
  const given = Object.fromEntries(
    secrets.flatMap((name) => (typeof parsed[name] === 'string' ? [[name, parsed[name]] as const] : [])),
  )
  return { plain: omit(parsed, secrets), given }
}

/** Checks settings against one of a kind's schemas; see {@link splitSettings} for what it throws. */
export function checkSettings(
  schema: z.ZodType,
  settings: unknown,
  path: readonly string[],
): Record<string, unknown> {
  const parsed = schema.safeParse(settings, { reportInput: true })
  if (parsed.success) return parsed.data as Record<string, unknown>
  throw toRefusal(
    parsed.error.issues.flatMap(withKeyRule).map((issue) => ({ ...issue, path: [...path, ...issue.path] })),
  )
}

/** A record's key that breaks a rule is told by that rule. */
const withKeyRule = (issue: z.core.$ZodIssue): z.core.$ZodIssue[] =>
  issue.code === 'invalid_key' ? issue.issues.map((inner) => ({ ...inner, path: issue.path })) : [issue]

/** Settings as they read: recorded secrets show as RECORDED. */
export const withRecorded = (
  plain: Readonly<Record<string, unknown>>,
  secrets: readonly string[],
): Record<string, unknown> => ({
  ...plain,
  ...Object.fromEntries(secrets.map((name) => [name, recorded])),
})

function withOptional(schema: z.ZodObject, names: readonly string[]): z.ZodObject {
  if (names.length === 0) return schema
  const optional = names.map((name) => [name, z.optional(schema.shape[name] ?? z.never())] as const)
  return schema.safeExtend(Object.fromEntries(optional))
}

function isAbsent(settings: unknown, name: string): boolean {
  const value = isRecord(settings) ? settings[name] : undefined
  return value === undefined || value === '' || value === recorded
}

const without = (settings: unknown, names: readonly string[]): unknown =>
  isRecord(settings) ? omit(settings, names) : settings

const omit = (
  settings: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
