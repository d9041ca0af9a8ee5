import { describe, expect, it } from 'vitest'
import { completeClaims, isWhole, toIdentity, toIdentitySession } from './oidc-claims.ts'

const base = { iss: 'https://idp.example', sub: '7' }

describe('a provider’s claims', () => {
  it('are an identity under issuer and subject', () => {
    const claims = {
      ...base,
      preferred_username: 'ada',
      realName: 'Ada Lovelace',
      groups: ['Ops'],
      sessionDuration: 60,
    }
    expect(toIdentity(claims)).toEqual({
      authType: 'OIDC',
      userName: 'ada',
      subject: 'https://idp.example 7',
      claims: { realName: 'Ada Lovelace', groups: ['Ops'], sessionMinutes: 60 },
    })
  })

  it.each([
    ['the preferred name before the address', { preferred_username: 'ada', email: 'a@example.com' }, 'ada'],
    ['the address of one who has no other name', { email: 'a@example.com' }, 'a@example.com'],
    ['the address that is verified', { email: 'a@example.com', email_verified: true }, 'a@example.com'],
    ['not an address that is not verified', { email: 'a@example.com', email_verified: false }, '7'],
    ['not one that is not verified in letters', { email: 'a@example.com', email_verified: 'false' }, '7'],
    ['not a name of spaces', { preferred_username: '  ' }, '7'],
    ['not a name with a line break', { preferred_username: 'ada\nroot' }, '7'],
    ['not a name that is no text', { preferred_username: ['ada'] }, '7'],
    ['not a name without end', { preferred_username: 'a'.repeat(257) }, '7'],
  ])('name: %s', (_, claims, userName) => {
    expect(toIdentity({ ...base, ...claims }).userName).toBe(userName)
  })

  it.each([
    ['realName before name', { realName: 'Ada', name: 'A.' }, 'Ada'],
    ['name where there is no realName', { name: 'A.' }, 'A.'],
    ['none that is no text', { realName: 7 }, undefined],
  ])('shown name: %s', (_, claims, realName) => {
    expect(toIdentity({ ...base, ...claims }).claims.realName).toBe(realName)
  })

  it.each<[unknown, string[]]>([
    [
      ['Ops', 'Staff'],
      ['Ops', 'Staff'],
    ],
    ['Ops', ['Ops']],
    [['Ops', 'Ops', ' Ops '], ['Ops']],
    [['Ops', 7, null, '', { name: 'Staff' }], ['Ops']],
    [[], []],
    [undefined, []],
    [{ Ops: true }, []],
  ])('groups: %j are %j', (groups, names) => {
    expect(toIdentity({ ...base, groups }).claims.groups).toEqual(names)
  })

  it.each<[unknown, number]>([
    [1, 1],
    [525_600, 525_600],
    ['90', 90],
    [0, 480],
    [-5, 480],
    [525_601, 480],
    [1.5, 480],
    [Number.NaN, 480],
    ['1e3', 480],
    ['', 480],
    [null, 480],
    [true, 480],
    [[60], 480],
    [undefined, 480],
  ])('session minutes: %j are %i', (sessionDuration, minutes) => {
    expect(toIdentity({ ...base, sessionDuration }).claims.sessionMinutes).toBe(minutes)
  })

  it('name the sign-in when the provider does', () => {
    expect(toIdentitySession({ ...base, sid: 's1' })).toBe('https://idp.example s1')
    for (const sid of [undefined, '', 7]) expect(toIdentitySession({ ...base, sid })).toBeUndefined()
  })

  it('of the userinfo count where the ID token says nothing, and only those that are asked for', () => {
    const token = { ...base, preferred_username: 'ada' }
    expect(isWhole(token)).toBe(false)
    const whole = completeClaims(token, {
      iss: 'https://other.example',
      sub: '8',
      sid: 'stolen',
      preferred_username: 'root',
      groups: ['Ops'],
      realName: 'Ada',
      sessionDuration: 5,
    })
    expect(whole).toEqual({ ...token, groups: ['Ops'], realName: 'Ada', sessionDuration: 5 })
    expect(isWhole(whole)).toBe(true)
  })
})
