import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { field } from '#server/backends/definitions/definition.ts'
import { definitions } from '#server/backends/definitions/index.ts'
import { definitionFields, definitionFormSchema, recorded, toDefinitionValues } from './definition-fields.ts'

const device = z.strictObject({
  Url: z.url({ protocol: /^https?$/ }).register(field, { label: 'field.Url' }),
  Token: z.string().min(1).register(field, { label: 'field.Token', secret: true }),
  Prefix: z.string().min(1).default('kk_').register(field, { label: 'field.Prefix' }),
  Port: z.number().int().default(443).register(field, { label: 'field.Port' }),
  Insecure: z.boolean().default(false).register(field, { label: 'field.Insecure' }),
  Protocol: z.enum(['unix', 'tcp']).default('unix').register(field, { label: 'field.Protocol' }),
  Note: z.string().register(field, { label: 'field.Note' }).optional(),
  Rows: z.array(z.string()).default([]).register(field, { label: 'field.Rows' }),
})

describe('a definition as a form', () => {
  it('draws each hinted field by its kind, in the definition’s order', () => {
    expect(definitionFields(device).map(({ name, kind, required }) => [name, kind, required])).toEqual([
      ['Url', 'text', true],
      ['Token', 'secret', true],
      ['Prefix', 'text', false],
      ['Port', 'number', false],
      ['Insecure', 'switch', false],
      ['Protocol', 'choice', false],
      ['Note', 'text', false],
    ])
  })

  it('starts with the defaults, and never with a stored secret', () => {
    expect(toDefinitionValues(device)).toEqual({
      Url: '',
      Token: '',
      Prefix: 'kk_',
      Port: '443',
      Insecure: false,
      Protocol: 'unix',
      Note: '',
    })
    expect(toDefinitionValues(device, { Url: 'https://fw', Token: recorded, Insecure: true })).toMatchObject({
      Url: 'https://fw',
      Token: '',
      Insecure: true,
    })
  })

  it('asks for a secret on creation, and keeps the stored one in an update', () => {
    const values = { ...toDefinitionValues(device), Url: 'https://fw' }
    const created = definitionFormSchema(device).safeParse(values)
    expect(created.error?.issues.map(({ path }) => path.join('.'))).toEqual(['Token'])
    const updated = definitionFormSchema(device, { isUpdate: true }).safeParse(values)
    expect(updated.data).toMatchObject({ Url: 'https://fw', Token: recorded, Port: 443 })
    expect(definitionFields(device, { isUpdate: true })[1]).toMatchObject({
      required: false,
      isRecorded: true,
    })
  })

  it('keeps what it does not draw', () => {
    const kept = { Rows: ['a', 'b'], Url: 'https://old' }
    const values = { ...toDefinitionValues(device), Url: 'https://new', Token: 't' }
    expect(definitionFormSchema(device, { kept }).parse(values)).toMatchObject({
      Rows: ['a', 'b'],
      Url: 'https://new',
    })
  })

  it('asks an ipset knoc for at least one set, and drops the empty one', () => {
    const schema = definitionFormSchema(definitions.ipset.acl)
    const empty = schema.safeParse({ V4SetName: ' ', V6SetName: '' })
    expect(empty.error?.issues.map(({ message, path }) => [message, path])).toEqual([
      ['err.ipsetNameRequired', ['V4SetName']],
    ])
    expect(schema.parse({ V4SetName: 'knoc_ssh', V6SetName: '' })).toEqual({ V4SetName: 'knoc_ssh' })
  })

  it('gives every field of every definition a label of its own', () => {
    for (const { backend, acl } of Object.values(definitions))
      for (const fields of [definitionFields(backend), definitionFields(acl)]) {
        const labels = fields.map(({ label }) => label)
        for (const label of labels) expect(label).toMatch(/^field\.\w+$/)
        expect(new Set(labels).size).toBe(labels.length)
      }
  })
})
