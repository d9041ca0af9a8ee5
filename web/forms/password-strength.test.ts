import { expect, it } from 'vitest'
import { passwordStrength } from './password-strength.ts'

it('calls what everybody tries first very weak', () => {
  for (const password of ['', 'password', 'Password1', '12345678', 'aaaaaaaaaaaa', 'qwertyuiop', 'abcdefgh'])
    expect(passwordStrength(password), password).toBe(0)
})

it('grows with length and variety', () => {
  expect(passwordStrength('hvxnkm')).toBe(1)
  expect(passwordStrength('hvxnkmbp2')).toBe(2)
  expect(passwordStrength('hvX7nkm!bp')).toBe(3)
  expect(passwordStrength('correct horse battery staple')).toBe(4)
})

it('counts the owner’s own name as nothing', () => {
  expect(passwordStrength('wilhelmina7')).toBeGreaterThan(passwordStrength('wilhelmina7', ['Wilhelmina']))
  expect(passwordStrength('wilhelmina7', ['Wilhelmina'])).toBe(0)
})
