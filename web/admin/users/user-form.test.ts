import { describe, expect, it } from 'vitest'
import { type UserRow, userCreateSchema, userUpdateSchema } from '#server/users/user.schema.ts'
import { toUserCreate, toUserUpdate, toUserValues, type UserValues, userFormSchema } from './user-form.ts'

const user: UserRow = {
  ID: '00000000-0000-4000-8000-000000000001',
  Name: 'Ada Lovelace',
  Company: null,
  UserName: 'ada',
  AuthType: 'local',
  Duration: 60,
  SessionLimit: null,
  TOTPEnabled: false,
  TOTPVerified: false,
  ThirdPartyAuth: null,
  ValidUntil: new Date('2030-05-06T23:59:59').toISOString(),
  LoginEnabled: false,
  LastLogin: null,
  CreatedAt: '2026-01-01T00:00:00Z',
  LastModifiedAt: '2026-01-01T00:00:00Z',
  ActiveSession: false,
  Licensed: true,
  AclIds: ['00000000-0000-4000-8000-000000000009'],
}
const creating = { user: undefined, sessionLimit: 5 }
const editing = { user, sessionLimit: 5 }
const typed: UserValues = {
  ...toUserValues(creating),
  Name: 'Grace Hopper',
  UserName: 'grace.hopper',
  Password: 'correct horse',
  ConfirmPassword: 'correct horse',
}
const faults = (values: Partial<UserValues>, rules: Parameters<typeof userFormSchema>[0] = creating) =>
  (
    userFormSchema(rules).safeParse({ ...(rules.user ? toUserValues(rules) : typed), ...values }).error
      ?.issues ?? []
  ).map(({ path, message }) => `${path.join('.')} ${message}`)

describe('the user form', () => {
  it('starts a new user at 480 minutes and the licence’s sessions', () => {
    expect(toUserValues(creating)).toMatchObject({
      AuthType: 'local',
      Duration: 480,
      SessionLimit: 5,
      TOTPEnabled: true,
      LoginEnabled: true,
    })
  })

  it('sends what the server takes', () => {
    const body = toUserCreate(userFormSchema(creating).parse({ ...typed, ValidUntil: '2030-05-06' }))
    expect(userCreateSchema.safeParse(body).error).toBeUndefined()
    expect(body).toMatchObject({
      UserName: 'grace.hopper',
      Company: null,
      SessionLimit: 5,
      ValidUntil: new Date('2030-05-06T23:59:59').toISOString(),
    })
  })

  it('asks for a name, a user name and a password of 8 to 64 characters, typed twice', () => {
    expect(faults({ Name: ' ' })[0]).toMatch(/^Name /)
    expect(faults({ UserName: 'a b' })[0]).toMatch(/^UserName /)
    expect(faults({ Password: 'short', ConfirmPassword: 'short' })).toEqual(['Password form.passwordLength'])
    const long = 'x'.repeat(65)
    expect(faults({ Password: long, ConfirmPassword: long })).toEqual(['Password form.passwordLength'])
    expect(faults({ ConfirmPassword: 'else' })).toEqual(['ConfirmPassword err.passwordsDontMatch'])
  })

  it('keeps the session limit within the licence’s, empty meaning the licence’s', () => {
    expect(faults({ SessionLimit: '6' })).toEqual(['SessionLimit form.sessionLimit'])
    expect(faults({ SessionLimit: '0' })).toEqual(['SessionLimit form.sessionLimit'])
    expect(
      toUserCreate(userFormSchema(creating).parse({ ...typed, SessionLimit: '' })).SessionLimit,
    ).toBeNull()
  })

  it('takes whole minutes from 1', () => {
    expect(faults({ Duration: '0' })).toEqual(['Duration form.minutes'])
    expect(faults({ Duration: '1.5' })).toEqual(['Duration form.minutes'])
    expect(faults({ Duration: '' })).toEqual(['Duration error.required'])
  })

  it('keeps the password, the memberships and the last day of an edited user', () => {
    expect(faults({}, editing)).toEqual([])
    const body = toUserUpdate(userFormSchema(editing).parse(toUserValues(editing)), user)
    expect(userUpdateSchema.safeParse(body).error).toBeUndefined()
    expect(body).not.toHaveProperty('PlainPassword')
    expect(body).toMatchObject({
      AclIds: user.AclIds,
      ValidUntil: user.ValidUntil,
      SessionLimit: null,
      LoginEnabled: false,
    })
  })

  it('sends the DN of an LDAP user, who may have a second factor, and no password', () => {
    const ldap = { ...typed, AuthType: 'LDAP', DN: 'uid=grace,dc=example,dc=org', Password: '' } as const
    const body = toUserCreate(userFormSchema(creating).parse(ldap))
    expect(userCreateSchema.safeParse(body).error).toBeUndefined()
    expect(body).toMatchObject({ ThirdPartyAuth: ldap.DN, TOTPEnabled: true })
    expect(body).not.toHaveProperty('PlainPassword')
  })

  it('makes an API-key user with its key, without password and second factor', () => {
    const apikey = { ...typed, AuthType: 'apikey', KeyName: 'Builds', KeyExpiry: 'never' } as const
    const body = toUserCreate(userFormSchema(creating).parse(apikey))
    expect(userCreateSchema.safeParse(body).error).toBeUndefined()
    expect(body.ApiKey).toEqual({
      Name: 'Builds',
      ExpiredAfter: null,
      AllowedFrom: [
        { prefix: '0.0.0.0/0', note: '' },
        { prefix: '::/0', note: '' },
      ],
    })
    for (const field of ['PlainPassword', 'TOTPEnabled', 'ThirdPartyAuth'])
      expect(body).not.toHaveProperty(field)
  })

  it('asks an API-key user for a key name, and for ranges in CIDR notation', () => {
    const apikey = { AuthType: 'apikey', KeyName: 'Builds' } as const
    expect(faults({ ...apikey, KeyName: ' ' })).toEqual(['KeyName error.required'])
    expect(faults({ ...apikey, AllowedFrom: [] })).toEqual(['AllowedFrom form.rangeNeeded'])
    const AllowedFrom = ['10.0.0.0/32', '10.0.0.0/33', '10.0.0.0', '::/129', ''].map((prefix) => ({
      prefix,
      note: '',
    }))
    expect(faults({ ...apikey, AllowedFrom })).toEqual(
      [1, 2, 3, 4].map((row) => `AllowedFrom.${row}.prefix err.invalidCidr`),
    )
  })
})
