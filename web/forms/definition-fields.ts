import { z } from 'zod'
import { type FieldHint, field } from '#server/backends/definitions/definition.ts'

/** What a form holds for one field: texts as typed, switches as they stand. */
export type DefinitionValues = Record<string, string | boolean>

/** One field of a definition, as the form draws it. */
export type DefinitionField = {
  name: string
  /** Translation key. */
  label: string
  kind: 'text' | 'secret' | 'number' | 'switch' | 'choice'
  /** Values to choose from, with the translation keys of those that have one. */
  choices: readonly { value: string; label: string | undefined }[]
  required: boolean
  /** A secret that is stored and not shown. */
  isRecorded: boolean
  placeholder: string | undefined
}

/** Stands for a secret that is stored and not shown; sent back, it keeps what is stored. Spec README "Secrets in answers". */
export const recorded = 'RECORDED'

/**
 * The fields of a definition's schema in its order: those that carry a hint and are of a kind with one input.
 * Lists have editors of their own and are left out.
 */
export function definitionFields(schema: z.ZodObject, { isUpdate = false } = {}): DefinitionField[] {
  return Object.entries(schema.shape).flatMap(([name, part]) => {
    const { hint, type } = unwrap(part as z.ZodType)
    const kind = hint && kindOf(type, hint)
    if (hint === undefined || kind === undefined) return []
    const isOptional = (part as z.ZodType).safeParse(undefined).success
    return {
      name,
      label: hint.label,
      kind,
      choices:
        type instanceof z.ZodEnum
          ? type.options.map(String).map((value) => ({ value, label: hint.choices?.[value] }))
          : [],
      required: !isOptional && kind !== 'switch' && !(isUpdate && kind === 'secret'),
      isRecorded: isUpdate && kind === 'secret',
      placeholder: hint.placeholder,
    }
  })
}

/** What the form starts with: what is stored, else the schema's defaults. A stored secret starts empty. */
export function toDefinitionValues(
  schema: z.ZodObject,
  stored: Record<string, unknown> = {},
): DefinitionValues {
  return Object.fromEntries(
    definitionFields(schema).map(({ name, kind }) => {
      const value = stored[name] ?? defaultOf(schema.shape[name] as z.ZodType)
      if (kind === 'switch') return [name, value === true]
      return [name, kind === 'secret' ? '' : toText(value)]
    }),
  )
}

/**
 * The form's rule: what was typed becomes the wire's config and is held against the definition's own schema.
 *
 * Empty fields count as absent; in an update an empty secret keeps the stored one. `kept` are the parts of the
 * stored config that the form doesn't draw.
 */
export const definitionFormSchema = (
  schema: z.ZodObject,
  { isUpdate = false, kept = {} }: { isUpdate?: boolean; kept?: Record<string, unknown> } = {},
) => {
  const fields = definitionFields(schema)
  const drawn = new Set(fields.map(({ name }) => name))
  const undrawn = Object.fromEntries(Object.entries(kept).filter(([name]) => !drawn.has(name)))
  return z
    .custom<DefinitionValues>(() => true)
    .transform(
      (values): Record<string, unknown> => ({
        ...undrawn,
        ...Object.fromEntries(fields.flatMap((part) => toEntry(part, values[part.name], isUpdate))),
      }),
    )
    .pipe(schema)
}

function toEntry(
  { name, kind }: DefinitionField,
  value: string | boolean | undefined,
  isUpdate: boolean,
): [string, unknown][] {
  if (typeof value === 'boolean') return [[name, value]]
  const text = value?.trim() ?? ''
  if (text === '') return kind === 'secret' && isUpdate ? [[name, recorded]] : []
  return [[name, kind === 'number' ? Number(text) : text]]
}

const defaultOf = (part: z.ZodType): unknown => {
  const parsed = part.safeParse(undefined)
  return parsed.success ? parsed.data : undefined
}

const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''

function kindOf(type: z.ZodType, hint: FieldHint): DefinitionField['kind'] | undefined {
  if (hint.secret) return 'secret'
  if (type instanceof z.ZodBoolean) return 'switch'
  if (type instanceof z.ZodEnum) return 'choice'
  if (type instanceof z.ZodNumber) return 'number'
  return type instanceof z.ZodString || type instanceof z.ZodURL ? 'text' : undefined
}

/** The schema below optional, default and the like, with the first hint found on the way. */
function unwrap(part: z.ZodType): { hint: FieldHint | undefined; type: z.ZodType } {
  let type = part
  let hint = field.get(type)
  while (
    type instanceof z.ZodOptional ||
    type instanceof z.ZodNullable ||
    type instanceof z.ZodDefault ||
    type instanceof z.ZodPrefault
  ) {
    type = type.def.innerType as z.ZodType
    hint ??= field.get(type)
  }
  return { hint, type }
}
