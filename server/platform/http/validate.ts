import type { MiddlewareHandler, ValidationTargets } from 'hono'
import { validator } from 'hono/validator'
import { z } from 'zod'
import { type ApiError, apiError, isErrorCode } from '../../errors.ts'

type Issue = z.core.$ZodIssue

/**
 * Checks one part of a request and hands the typed result to the handler (`c.req.valid('json')`).
 *
 * Malformed JSON, a wrong type, a missing or unknown key: 400 err.badRequest. A right type that breaks a rule:
 * 422 with the rule's own code when its message is one of the catalogue, else err.invalidField. Extra is the
 * field's path. A JSON body needs application/json (415). It throws, so that the typed client sees the
 * handler's answers only.
 */
export function validate<Target extends keyof ValidationTargets, Schema extends z.ZodType>(
  target: Target,
  schema: Schema,
): MiddlewareHandler<
  // oxlint-disable-next-line typescript/no-explicit-any -- any app's environment fits, as with hono's own validator
  any,
  string,
  { in: Record<Target, z.input<Schema>>; out: Record<Target, z.output<Schema>> }
> {
  return validator(target, (value, c): z.output<Schema> => {
    if (target === 'json') checkIsJson(c.req.header('Content-Type'))
    const parsed = schema.safeParse(value, { reportInput: true })
    if (!parsed.success) throw toRefusal(parsed.error.issues)
    return parsed.data
  }) as never
}

function checkIsJson(contentType: string | undefined): void {
  const type = contentType?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw apiError('err.unsupportedMediaType')
}

/** The refusal that a schema's issues mean; for what is checked against a schema outside of a request's parts. */
export function toRefusal(issues: readonly Issue[]): ApiError {
  const shape = issues.find(isShapeIssue)
  const issue = shape ?? issues[0]
  const facts = { extra: pathOf(issue), detail: issue?.message ?? 'refused by the schema' }
  if (shape !== undefined || issue === undefined) return apiError('err.badRequest', facts)
  return apiError(isErrorCode(issue.message) ? issue.message : 'err.invalidField', facts)
}

/** Whether a value is not even of the right kind; everything else is a rule about values. */
function isShapeIssue(issue: Issue): boolean {
  const { code } = issue
  if (code === 'invalid_element') return issue.issues.some(isShapeIssue)
  if (code !== 'invalid_union') return code === 'invalid_type' || code === 'unrecognized_keys'
  // Of alternatives one that only breaks a rule decides. A kind that is unknown breaks a rule, a missing one is a shape.
  return issue.errors.length === 0 ? !hasKind(issue) : issue.errors.every((inner) => inner.some(isShapeIssue))
}

function hasKind({ input, path }: Issue): boolean {
  const kind: unknown = (input as Record<PropertyKey, unknown> | undefined)?.[path.at(-1) ?? '']
  return typeof kind === 'string'
}

function pathOf(issue: Issue | undefined): string {
  const keys = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  return [...(issue?.path ?? []), ...keys].map(String).join('.').slice(0, 200)
}
