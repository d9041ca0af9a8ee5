import { generateSync } from 'otplib'
import { describe, expect, it } from 'vitest'
import { findStep, newSeed, toOtpauthUrl } from './totp.ts'

/** RFC 6238's own secret, "12345678901234567890", in base32. */
const rfcSeed = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

/** RFC 6238 appendix B, SHA-1; of its eight digits the last six. */
const vectors = [
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
] as const

const now = 1_700_000_015
const present = Math.floor(now / 30)
const seed = newSeed()
const codeOf = (step: number) => generateSync({ secret: seed, epoch: step * 30 })
const find = (code: string, lastStep: number | null = null, epochSeconds = now) =>
  findStep({ seed, code, epochSeconds, lastStep })

describe('codes', () => {
  it.each(vectors)('are RFC 6238’s at %i s', (epochSeconds, code) => {
    const found = findStep({ seed: rfcSeed, code: code.slice(-6), epochSeconds, lastStep: null })
    expect(found).toBe(Math.floor(epochSeconds / 30))
  })

  it('are taken of the present step, the one before and the one after', () => {
    const found = [-2, -1, 0, 1, 2].map((off) => find(codeOf(present + off)))
    expect(found).toEqual([undefined, present - 1, present, present + 1, undefined])
  })

  it('are taken once, and none of an earlier step after it', () => {
    expect(find(codeOf(present), present)).toBeUndefined()
    expect(find(codeOf(present - 1), present)).toBeUndefined()
    expect(find(codeOf(present + 1), present)).toBe(present + 1)
  })

  it('are refused after the clock was set back, and nothing throws', () => {
    expect(find(codeOf(present), present + 1)).toBeUndefined()
    expect(find(codeOf(present), present + 1000)).toBeUndefined()
  })

  it('are refused of another seed', () => {
    const other = generateSync({ secret: newSeed(), epoch: now })
    expect(other === codeOf(present) ? undefined : find(other)).toBeUndefined()
  })
})

describe('a seed', () => {
  it('has 160 bits and is never the same', () => {
    const seeds = new Set(Array.from({ length: 50 }, newSeed))
    expect(seeds.size).toBe(50)
    for (const each of seeds) expect(each).toMatch(/^[A-Z2-7]{32}$/)
  })
})

describe('the address in the QR code', () => {
  it('names issuer, account and seed', () => {
    expect(toOtpauthUrl({ userName: 'ada', seed: rfcSeed })).toBe(
      `otpauth://totp/Knoc:ada?secret=${rfcSeed}&issuer=Knoc&algorithm=SHA1&digits=6&period=30`,
    )
  })

  it.each(['a b', 'CORP\\ada', 'ada@example.com', 'a:b', 'a/b?c#d&e=f', '50%', 'Šárka 漢字'])(
    'carries the name %s whole',
    (userName) => {
      const url = new URL(toOtpauthUrl({ userName, seed: rfcSeed }))
      expect(decodeURIComponent(url.pathname)).toBe(`/Knoc:${userName}`)
      expect(url.pathname).toMatch(/^\/Knoc:[^:/?#&]+$/)
      expect([...url.searchParams.keys()]).toEqual(['secret', 'issuer', 'algorithm', 'digits', 'period'])
    },
  )
})
