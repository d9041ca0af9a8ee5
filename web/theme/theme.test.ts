import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { accents } from '#server/status/status.schema.ts'
import { controlPairs, controlRatio, textPairs, textRatio } from './contrast-pairs.ts'

const css = readFileSync(new URL('./theme.css', import.meta.url), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')

type Theme = { accent: string; mode: string; contrast: string }

const themes: Theme[] = accents.flatMap((accent) =>
  ['light', 'dark'].flatMap((mode) => ['normal', 'high'].map((contrast) => ({ accent, mode, contrast }))),
)

/** The custom properties that hold for a theme: every block whose attributes all match, later ones win. */
function tokensOf(theme: Theme): Map<string, string> {
  const tokens = new Map<string, string>()
  for (const [, selector = '', body = ''] of css.matchAll(/(:root[^{]*)\{([^}]*)\}/g)) {
    const wanted = [...selector.matchAll(/\[data-(\w+)="(\w+)"\]/g)]
    if (!wanted.every(([, name, value]) => theme[name as keyof Theme] === value)) continue
    for (const [, name = '', value = ''] of body.matchAll(/--([\w-]+):\s*([^;]+);/g)) tokens.set(name, value)
  }
  return tokens
}

function linearRgb(tokens: Map<string, string>, name: string): [number, number, number] {
  const value = tokens.get(name)
  if (value === undefined) throw new Error(`no token --${name}`)
  const resolved = value.replaceAll(/var\(--([\w-]+)\)/g, (_, inner: string) => tokens.get(inner) ?? 'NaN')
  const parts = /^oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)$/.exec(resolved)
  if (parts === null) throw new Error(`--${name} is not a plain oklch(): ${resolved}`)
  return fromOklch(Number(parts[1]), Number(parts[2]), Number(parts[3]))
}

/** OKLCH to linear sRGB, Björn Ottosson's matrices. */
function fromOklch(l: number, c: number, h: number): [number, number, number] {
  const a = c * Math.cos((h * Math.PI) / 180)
  const b = c * Math.sin((h * Math.PI) / 180)
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ]
}

const luminance = ([r, g, b]: [number, number, number]): number => 0.2126 * r + 0.7152 * g + 0.0722 * b

function ratio(tokens: Map<string, string>, one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(linearRgb(tokens, one)), luminance(linearRgb(tokens, other))].sort(
    (a, b) => b - a,
  )
  return (light + 0.05) / (dark + 0.05)
}

const failures = (theme: Theme, pairs: typeof textPairs, least: number): string[] => {
  const tokens = tokensOf(theme)
  return pairs
    .map(([one, other]) => ({ pair: `${one} on ${other}`, value: ratio(tokens, one, other) }))
    .filter(({ value }) => value < least)
    .map(({ pair, value }) => `${pair}: ${value.toFixed(2)}`)
}

describe.each(themes)('theme $accent, $mode, $contrast contrast', (theme) => {
  it('has readable text on everything it stands on', () => {
    expect(failures(theme, textPairs, theme.contrast === 'high' ? 7 : textRatio)).toEqual([])
  })
  it('has visible controls and focus rings', () => {
    expect(failures(theme, controlPairs, theme.contrast === 'high' ? 4.5 : controlRatio)).toEqual([])
  })
  it('uses only colours that every screen can show', () => {
    const tokens = tokensOf(theme)
    const names = new Set([...textPairs, ...controlPairs].flat())
    const outside = [...names].filter((name) =>
      linearRgb(tokens, name).some((channel) => channel < -0.002 || channel > 1.002),
    )
    expect(outside).toEqual([])
  })
})

it('takes the calculation from the standard: black on white is 21, #767676 on white 4.54', () => {
  const tokens = new Map([
    ['black', 'oklch(0 0 0)'],
    ['white', 'oklch(1 0 0)'],
    ['grey', 'oklch(0.5686 0 0)'],
  ])
  expect(ratio(tokens, 'black', 'white')).toBeCloseTo(21, 1)
  expect(ratio(tokens, 'grey', 'white')).toBeCloseTo(4.54, 1)
})
