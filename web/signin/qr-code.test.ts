import { expect, it } from 'vitest'
import { drawQrCode } from './qr-code.tsx'

it('leaves four light modules around the code, and draws its three corners', () => {
  const { size, path } = drawQrCode('otpauth://totp/Knoc:robin?secret=JBSWY3DPEHPK3PXP&issuer=Knoc')
  const dark = new Set([...path.matchAll(/M(\d+) (\d+)h1v1h-1z/g)].map(([, x, y]) => `${x} ${y}`))
  const isDark = (x: number, y: number) => dark.has(`${x} ${y}`)
  const positions = [...dark].flatMap((module) => module.split(' ').map(Number))
  expect(Math.min(...positions)).toBe(4)
  expect(Math.max(...positions)).toBe(size - 5)
  for (const [left, top] of [
    [4, 4],
    [size - 11, 4],
    [4, size - 11],
  ] as const) {
    // A ring of dark, a ring of light, a dark middle: ISO/IEC 18004, finder pattern.
    const row = [0, 1, 2, 3, 4, 5, 6].map((step) => isDark(left + step, top + 3))
    expect(row).toEqual([true, false, true, true, true, false, true])
  }
})
