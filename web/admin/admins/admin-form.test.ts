import { describe, expect, it } from 'vitest'
import { type AdminRow, adminCreateSchema, adminUpdateSchema } from '#server/admins/admin.schema.ts'
import {
  type AdminValues,
  adminFormSchema,
  toAdminCreate,
  toAdminUpdate,
  toAdminValues,
} from './admin-form.ts'

const admin: AdminRow = {
  ID: '00000000-0000-4000-8000-000000000001',
  Name: 'Ada Lovelace',
  UserName: 'ada',
  AuthType: 'local',
  TOTPEnabled: false,
  TOTPVerified: false,
  LoginEnabled: true,
  Role: 'owner',
  DN: null,
  LastLogin: null,
  CreatedAt: '2026-01-01T00:00:00Z',
  LastModifiedAt: '2026-01-01T00:00:00Z',
  Passkeys: 0,
}
const typed: AdminValues = {
  ...toAdminValues(undefined),
  Name: 'Grace Hopper',
  UserName: 'grace.hopper',
  Password: 'correct horse',
  ConfirmPassword: 'correct horse',
}
const faults = (values: Partial<AdminValues>, of?: AdminRow) =>
  (adminFormSchema(of).safeParse({ ...(of ? toAdminValues(of) : typed), ...values }).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')} ${message}`,
  )

describe('the admin form', () => {
  it('starts with a second factor, and sends what the server takes', () => {
    const body = toAdminCreate(adminFormSchema(undefined).parse(typed))
    expect(adminCreateSchema.safeParse(body).error).toBeUndefined()
    expect(body).toMatchObject({ AuthType: 'local', TOTPEnabled: true, PlainPassword: 'correct horse' })
  })

  it('asks for a password of 8 to 64 characters, typed twice the same', () => {
    expect(faults({ Password: '', ConfirmPassword: '' })).toEqual(['Password error.required'])
    expect(faults({ Password: 'short', ConfirmPassword: 'short' })).toEqual(['Password form.passwordLength'])
    expect(faults({ ConfirmPassword: 'else' })).toEqual(['ConfirmPassword err.passwordsDontMatch'])
    expect(faults({}, admin)).toEqual([])
    expect(faults({ Password: 'short', ConfirmPassword: 'short' }, admin)).toEqual([
      'Password form.passwordLength',
    ])
  })

  it.each(['SAML', 'OIDC'] as const)('sends neither password nor second factor of a %s admin', (AuthType) => {
    const body = toAdminCreate(adminFormSchema(undefined).parse({ ...typed, AuthType }))
    expect(adminCreateSchema.safeParse(body).error).toBeUndefined()
    expect(body).toEqual({ AuthType, Name: 'Grace Hopper', UserName: 'grace.hopper', LoginEnabled: true })
  })

  it('sends the DN of an LDAP admin, and no password', () => {
    const DN = 'uid=grace,dc=example,dc=org'
    const body = toAdminCreate(adminFormSchema(undefined).parse({ ...typed, AuthType: 'LDAP', DN }))
    expect(body).toMatchObject({ DN, TOTPEnabled: true })
    expect(body).not.toHaveProperty('PlainPassword')
  })

  it('keeps the password of an edited admin, whose user name and type it never sends', () => {
    const body = toAdminUpdate(adminFormSchema(admin).parse(toAdminValues(admin)), admin)
    expect(adminUpdateSchema.safeParse(body).error).toBeUndefined()
    expect(body).toEqual({ ID: admin.ID, Name: 'Ada Lovelace', LoginEnabled: true, TOTPEnabled: false })
  })
})
