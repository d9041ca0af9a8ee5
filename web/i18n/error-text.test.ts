import { describe, expect, it } from 'vitest'
import { ApiFailure, NetworkFailure } from '../api.ts'
import { errorText, fieldErrorText } from './error-text.ts'
import { startI18n } from './start-i18n.ts'

const i18n = startI18n()
const failure = (code: string, extra?: string) =>
  errorText(i18n, new ApiFailure({ status: 400, code, extra }))

describe('what a person reads of an error', () => {
  it('is the code’s text, with what it carries behind a colon', () => {
    expect(failure('err.badRequest')).toBe('Bad request')
    expect(failure('err.invalidField', 'ACL.Config')).toBe('Invalid value: ACL.Config')
  })
  it('translates what it carries when that is a code itself', () => {
    expect(failure('err.badRequest', 'err.invalidCidr')).toBe('Bad request: Not an address range (CIDR)')
    expect(failure('err.badRequest', 'err.unheardOf')).toBe('Bad request: err.unheardOf')
  })
  it('names seconds as such', () => {
    expect(failure('err.tooManyRequests', '30')).toBe('Too many requests, try again in: 30 s')
  })
  it('is the general text for a code nobody knows', () => {
    expect(failure('err.unheardOf', 'x')).toBe('An internal server error occurred')
  })
  it('is the client’s own message otherwise', () => {
    expect(errorText(i18n, new Error('No such file'))).toBe('No such file')
    expect(errorText(i18n, new NetworkFailure(null))).toBe('The server can’t be reached'.replace('’', "'"))
    expect(errorText(i18n, new Error(''))).toBe('An internal server error occurred')
    expect(errorText(i18n, undefined)).toBe('An internal server error occurred')
  })
  it('never takes a text of the server for markup or a template', () => {
    expect(failure('err.invalidField', '{{name}} $t(err.badRequest) <b>')).toBe(
      'Invalid value: {{name}} $t(err.badRequest) <b>',
    )
  })
})

it('says Required for a rule without a text of its own', () => {
  expect(fieldErrorText(i18n, undefined)).toBeUndefined()
  expect(fieldErrorText(i18n, 'Too small: expected string to have >=1 characters')).toBe('Required')
  expect(fieldErrorText(i18n, 'err.passwordLength')).toBe('The password must have 8 to 64 characters')
})
