import { beforeAll, describe, expect, it } from 'vitest'
import { loadStrengthCheck, type StrengthCheck } from './password-strength.ts'

let strengthOf: StrengthCheck
beforeAll(async () => {
  strengthOf = await loadStrengthCheck()
})

describe('the strength of a password', () => {
  it.each([
    [0, ''],
    [0, 'password'],
    [0, 'Password1'],
    [0, '12345678'],
    [0, 'aaaaaaaaaaaa'],
    [0, 'qwertyuiop'],
    [0, 'P@ssw0rd'],
    [1, 'Monkey!87'],
    [1, 'summer2026'],
    [2, 'qwerty-7734'],
    [3, 'hvX7nkm!b'],
    [4, 'hvX7nkm!bp2r'],
    [4, 'correct horse battery staple'],
    [4, 'ein Pferd frißt keinen Gurkensalat'],
    [1, '🙂ß'.repeat(32)],
  ])('is %d for %s', (strength, password) => {
    expect(strengthOf(password)).toBe(strength)
  })

  it.each([['Wilhelmina'], ['Wilhelmina Testperson'], ['x@example.com', 'wilhelmina.testperson']])(
    'counts the owner’s own names as nothing: %s',
    (...ownWords) => {
      expect(strengthOf('Wilhelmina')).toBe(2)
      expect(strengthOf('Wilhelmina', ownWords)).toBe(0)
      expect(strengthOf('wilhelmina7', ownWords)).toBeLessThan(strengthOf('wilhelmina7'))
    },
  )

  it('is told soon, however long the password is', () => {
    const began = performance.now()
    strengthOf('aA1!'.repeat(1000))
    expect(performance.now() - began).toBeLessThan(2000)
  })
})
