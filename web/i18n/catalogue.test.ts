import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { statuses } from '#machines/grant-status.ts'
import { field } from '#server/backends/definitions/definition.ts'
import { definitions } from '#server/backends/definitions/index.ts'
import { errorStatus } from '#server/errors.ts'
import adminTexts from './en-AU.admin.json' with { type: 'json' }
import texts from './en-AU.json' with { type: 'json' }

const has = (key: string) => Object.hasOwn(texts, key) || Object.hasOwn(adminTexts, key)

describe('the en-AU catalogue', () => {
  it('has a text for every code of the error catalogue, for users and admins alike', () => {
    expect(Object.keys(errorStatus).filter((code) => !Object.hasOwn(texts, code))).toEqual([])
  })
  it('has no text for a code that nobody answers', () => {
    const codes = Object.keys(texts).filter((key) => key.startsWith('err.'))
    expect(codes.filter((code) => !Object.hasOwn(errorStatus, code))).toEqual([])
  })
  it('names every status', () => {
    const labels = Object.values(statuses).map(({ label }) => `status.${label}`)
    expect(labels.filter((key) => !Object.hasOwn(texts, key))).toEqual([])
  })
  it('names every kind of backend and each of its fields', () => {
    const keys = Object.values(definitions).flatMap(({ label, backend, acl }) => [
      label,
      ...[backend, acl].flatMap(({ shape }) =>
        Object.values<z.ZodType>(shape).flatMap((schema) => field.get(schema)?.label ?? []),
      ),
    ])
    expect(keys.length).toBeGreaterThan(0)
    expect(keys.filter((key) => !has(key))).toEqual([])
  })
  it('keeps the two catalogues apart and no text empty', () => {
    expect(Object.keys(adminTexts).filter((key) => Object.hasOwn(texts, key))).toEqual([])
    expect(Object.entries({ ...texts, ...adminTexts }).filter(([, text]) => text.trim() === '')).toEqual([])
  })
})
