import { ApiFailure } from '../../api.ts'

/** Where a form shows what the server refuses: its fields, those the wire calls otherwise, and codes that mean one field. */
export type FieldPlaces<Field extends string> = {
  fields: readonly Field[]
  /** Wire path to field: `{ PlainPassword: 'Password' }`. */
  renamed?: Readonly<Record<string, Field>> | undefined
  /** Code to field, for refusals that name no path: `{ 'err.userNameTaken': 'UserName' }`. */
  codes?: Readonly<Record<string, Field>> | undefined
}

/**
 * The field that a refusal belongs to, with the code to show there; undefined when it belongs to none.
 *
 * A rule's refusal is 422 with the field's path as Extra, and so is the wish for a secret to be entered again (409).
 * Specification README "Malformed or against a rule", "Secrets in answers and updates".
 */
export function toFieldFault<Field extends string>(
  error: unknown,
  { fields, renamed = {}, codes = {} }: FieldPlaces<Field>,
): { field: Field; code: string } | undefined {
  if (!(error instanceof ApiFailure)) return undefined
  const { code, extra, status } = error
  const byCode = codes[code]
  if (byCode !== undefined) return { field: byCode, code }
  const namesField = status === 422 || code === 'err.credentialsRequired'
  if (!namesField || extra === undefined) return undefined
  const top = extra.split('.')[0] ?? extra
  const field = renamed[extra] ?? renamed[top] ?? fields.find((name) => name === extra || name === top)
  return field === undefined ? undefined : { field, code }
}
