import { describe, expect, it } from 'vitest'
import { formatRecoveryCode, newRecoveryCodes, parseTypedCode } from './typed-code.ts'

describe('what is typed', () => {
  it.each(['123456', ' 123 456 ', '123-456', '１２３４５６', '123\u00a0456'])(
    'is a generator’s code: %s',
    (text) => {
      expect(parseTypedCode(text)).toEqual({ kind: 'totp', code: '123456' })
    },
  )

  it.each([
    'ABCD-EFGH-1JK0-2345',
    'abcd efgh 1jk0 2345',
    'abcdefgh1jk02345',
    'ABCD–EFGH—ljko\t2345',
    'AbCd-EfGh-iJkO-2345\n',
  ])('is a recovery code in whatever spelling: %s', (text) => {
    expect(parseTypedCode(text)).toEqual({ kind: 'recovery', code: 'ABCDEFGH1JK02345' })
  })

  it.each([
    '',
    '12345',
    '1234567',
    '12345a',
    'ABCD-EFGH-1JK0-234',
    'ABCD-EFGH-1JK0-23456',
    'UUUU-UUUU-UUUU-UUUU',
  ])('is neither: %s', (text) => {
    expect(parseTypedCode(text)).toEqual({ kind: 'unknown' })
  })
})

describe('recovery codes', () => {
  it('are ten, all different, each of 80 bits', () => {
    const codes = newRecoveryCodes()
    expect(new Set(codes).size).toBe(10)
    for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/)
  })

  it('use the whole alphabet', () => {
    const used = new Set(Array.from({ length: 100 }, newRecoveryCodes).flat().join(''))
    expect(used.size).toBe(32)
  })

  it('are shown in groups that are read back as the code', () => {
    for (const code of newRecoveryCodes()) {
      const shown = formatRecoveryCode(code)
      expect(shown).toMatch(/^(\w{4}-){3}\w{4}$/)
      expect(parseTypedCode(shown.toLowerCase())).toEqual({ kind: 'recovery', code })
    }
  })
})
