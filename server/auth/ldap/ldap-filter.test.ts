import { describe, expect, it } from 'vitest'
import { checkLdapFilter, toFilter } from './ldap-filter.ts'

const refusal = { code: 'err.ldapFilterInvalid' }

describe('a filter of the settings', () => {
  it.each([
    '(uid={username})',
    '(&(objectClass=person)(|(uid={username})(mail={username}@example.com)))',
    '(member={dn})',
    '(memberOf:1.2.840.113556.1.4.1941:={dn})',
    '(&(uid={username})(!(accountLocked=*)))',
  ])('is taken: %s', (text) => {
    expect(() => checkLdapFilter(text)).not.toThrow()
  })

  it.each([
    '',
    'uid={username}',
    '(uid={username}',
    '(uid={username}))',
    '((uid={username}))',
    '(={username})',
    '(uid={username})(cn=x)',
    '(&)',
    '(objectClass=person)',
    '(uid={user})',
    `(uid={username}${'x'.repeat(2000)})`,
  ])('is refused: %s', (text) => {
    expect(() => checkLdapFilter(text)).toThrow(expect.objectContaining(refusal))
  })

  it('of users needs {username}', () => {
    expect(() => checkLdapFilter('(member={dn})', ['{username}'])).toThrow(expect.objectContaining(refusal))
  })
})

describe('what is filled in', () => {
  it.each(['*)(uid=*', '*', 'a\\2a', '(', ')', '\0', '{dn}', '$&', 'Zoë', '\\', '(|(uid=*))'])(
    'stays the value it is: %j',
    (username) => {
      expect(toFilter('(uid={username})', { username, dn: 'never this' })).toMatchObject({
        attribute: 'uid',
        value: username,
      })
    },
  )
})
