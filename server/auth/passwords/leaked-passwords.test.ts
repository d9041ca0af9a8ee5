import { describe, expect, it } from 'vitest'
import { leakedPasswords } from './leaked-passwords.ts'

describe('the list of leaked passwords', () => {
  it('has as many as its description says, and is read once', async () => {
    const list = await leakedPasswords()
    expect(list.size).toBe(474_743)
    expect(await leakedPasswords()).toBe(list)
  })

  it.each(['password', '12345678', 'PassWord', 'TRUSTNO1', 'ｐａｓｓｗｏｒｄ', 'qwertyuiop'])(
    'knows %s',
    async (password) => {
      expect((await leakedPasswords()).has(password)).toBe(true)
    },
  )

  it.each(['correct horse 1', 'password of nobody', '', 'short', 'pässwörd', 'password'.repeat(8)])(
    'does not know %j',
    async (password) => {
      expect((await leakedPasswords()).has(password)).toBe(false)
    },
  )

  it('takes nothing for leaked that is not', async () => {
    const list = await leakedPasswords()
    const drawn = Array.from({ length: 100_000 }, (_, index) => `knoc ${index} ${index * 7919}`)
    expect(drawn.filter((password) => list.has(password))).toEqual([])
  })
})
