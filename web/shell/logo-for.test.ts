import { expect, it } from 'vitest'
import { logoFor } from './logo-for.ts'

it.each([
  ['dark', 'light', 'dark', 'light'],
  ['dark', null, 'dark', 'dark'],
  [null, 'light', 'light', 'light'],
  [null, null, null, null],
])('logos %s and %s show as %s on dark and %s on light', (Logo, LightModeLogo, onDark, onLight) => {
  expect([true, false].map((isDark) => logoFor({ Logo, LightModeLogo }, isDark))).toEqual([onDark, onLight])
})
