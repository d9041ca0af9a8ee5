import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Definition, defineBackend, field } from './definitions/definition.ts'
import { keepListSecrets, keepSecrets } from './kept-secrets.ts'
import { deviceOf, isInsecure, sealBindingText } from './sealing.schema.ts'
import { secretNames, splitSettings, withRecorded } from './secret-fields.ts'

const firewall = defineBackend({
  id: 'firewall',
  label: 'x',
  minAgentVersion: '1.6.0',
  needsAgent: true,
  expiry: 'agent',
  backend: z
    .strictObject({
      Hostname: z.string().min(1).register(field, { label: 'x' }),
      Username: z.string().min(1).register(field, { label: 'x' }),
      Password: z.string().min(4).register(field, { label: 'x', secret: true }),
      Insecure: z.boolean().default(false),
    })
    .refine((settings) => settings.Username !== settings.Hostname, {
      error: 'err.invalidField',
      path: ['Username'],
    }),
  acl: z.strictObject({}),
  targets: () => [],
}) as unknown as Definition

const settings = { Hostname: 'fw', Username: 'api' }
const split = (given: unknown, stored: string[] = []) =>
  splitSettings(firewall, given, { stored, path: ['Config'] })
const refusal = (code: string, extra?: string) => expect.objectContaining({ code, ...(extra && { extra }) })

describe('a kind’s secret fields', () => {
  it('are known by their hint and taken out of the settings', () => {
    expect(secretNames(firewall)).toEqual(['Password'])
    expect(split({ ...settings, Password: 'pass1' })).toEqual({
      plain: { ...settings, Insecure: false },
      given: { Password: 'pass1' },
    })
    expect(withRecorded(settings, ['Password'])).toEqual({ ...settings, Password: 'RECORDED' })
  })

  it.each([[undefined], [''], ['RECORDED']])(
    'given as %j are kept when recorded, and missing when not',
    (Password) => {
      const sent = Password === undefined ? settings : { ...settings, Password }
      expect(split(sent, ['Password'])).toEqual({ plain: { ...settings, Insecure: false }, given: {} })
      expect(() => split(sent)).toThrow(refusal('err.badRequest', 'Config.Password'))
    },
  )

  it('follow their own rules, and the settings theirs, when kept too', () => {
    expect(() => split({ ...settings, Password: 'abc' }, ['Password'])).toThrow(
      refusal('err.invalidField', 'Config.Password'),
    )
    expect(() => split({ ...settings, Username: 'fw' }, ['Password'])).toThrow(
      refusal('err.invalidField', 'Config.Username'),
    )
    expect(() => split({ ...settings, Other: 1 }, ['Password'])).toThrow(
      refusal('err.badRequest', 'Config.Other'),
    )
    for (const nothing of [null, 7, 'x', []]) expect(() => split(nothing)).toThrow(refusal('err.badRequest'))
  })
})

describe('a secret field that may be absent', () => {
  it('is known whichever side of the wrapper its hint stands on', () => {
    const inner = z.string().register(field, { label: 'x', secret: true })
    const outer = z.string().default('d').register(field, { label: 'x', secret: true })
    const backend = z.strictObject({
      Inner: inner.nullable().optional(),
      Outer: outer,
      Plain: z.string().optional(),
    })
    expect(secretNames({ ...firewall, backend })).toEqual(['Inner', 'Outer'])
  })
})

describe('recorded secrets', () => {
  const sealed = { 'backend.Password': 'sealed', 'backend.ApiKey': 'sealed too' }

  it('stay beside those given now', () => {
    expect(keepSecrets(sealed, { given: { 'backend.ApiKey': 'new' }, isMoved: false })).toEqual({
      'backend.Password': 'sealed',
    })
  })

  it('have to be given again, all of them, where they go to another place or are lost', () => {
    expect(() => keepSecrets(sealed, { given: { 'backend.ApiKey': 'new' }, isMoved: true })).toThrow(
      refusal('err.credentialsRequired', 'Password'),
    )
    expect(() => keepSecrets({ ...sealed, 'backend.Password': '' }, { given: {}, isMoved: false })).toThrow(
      refusal('err.credentialsRequired', 'Password'),
    )
    expect(() =>
      keepListSecrets({ 'list.EnvVars.A': 'x' }, { keep: ['list.EnvVars.A'], isMoved: true }),
    ).toThrow(refusal('err.credentialsRequired', 'EnvVars.A'))
    expect(
      keepSecrets(sealed, { given: { 'backend.Password': 'a', 'backend.ApiKey': 'b' }, isMoved: true }),
    ).toEqual({})
  })
})

describe('what a sealed value is bound to', () => {
  it('is one text on both ends', () => {
    const binding = {
      field: 'backend.Password',
      type: 'firewall',
      device: deviceOf({ ...settings, Url: 'https://not-this' }),
      insecure: isInsecure({ Insecure: true }),
      backendId: '0B0C0D0E-0000-4000-8000-000000000000',
      agentId: '0a0c0d0e-0000-4000-8000-000000000000',
    }
    expect(sealBindingText(binding)).toBe(
      '{"knoc":"seal-v1","agentId":"0a0c0d0e-0000-4000-8000-000000000000",' +
        '"backendId":"0b0c0d0e-0000-4000-8000-000000000000","device":"fw","field":"backend.Password",' +
        '"insecure":true,"type":"firewall"}',
    )
    expect([deviceOf({}), deviceOf({ Url: 'https://fw' }), isInsecure({ Insecure: 'true' })]).toEqual([
      '',
      'https://fw',
      false,
    ])
  })
})
