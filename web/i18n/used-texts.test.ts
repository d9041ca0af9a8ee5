import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { errorStatus } from '#server/errors.ts'
import adminTexts from './en-AU.admin.json' with { type: 'json' }
import texts from './en-AU.json' with { type: 'json' }

/** A key as the code writes it: without plural form. */
const base = (key: string): string => key.replace(/_(zero|one|two|few|many|other)$/, '')
const keys = new Set([...Object.keys(texts), ...Object.keys(adminTexts)].map(base))

const portal = read('portal')
const shared = ['components', 'i18n', 'passkeys', 'shell', 'signin', 'theme'].flatMap(read)
const console = ['admin', 'forms'].flatMap(read)
/** Definitions, machines and errors name texts, too. */
const named = ['../server/backends/definitions', '../machines'].flatMap(read)
const everything = [...portal, ...shared, ...console, ...named].join('\n')

describe('the texts that the code names', () => {
  it('are there: those it names in full', () => {
    const wanted = allOf(everything, /\bt\(\s*'([^']+)'/g)
    expect(wanted.length).toBeGreaterThan(200)
    expect(wanted.filter((key) => !keys.has(key))).toEqual([])
  })

  it('are there: those it puts together', () => {
    const wanted = allOf(everything, /\bt\(\s*`([^`]+)`/g)
    expect(wanted.length).toBeGreaterThan(20)
    expect(wanted.filter((template) => ![...keys].some((key) => patternOf(template).test(key)))).toEqual([])
  })

  it('are in the portal’s own catalogue when the portal or what both share names them', () => {
    const wanted = allOf([...portal, ...shared].join('\n'), /\bt\(\s*'([^']+)'/g)
    const own = new Set(Object.keys(texts).map(base))
    expect(wanted.filter((key) => !own.has(key))).toEqual([])
  })

  it('are all that there are', () => {
    const literal = new Set(allOf(everything, /['"`]([A-Za-z]+(?:\.[\w-]+)+)['"`]/g))
    const patterns = allOf(everything, /`([a-zA-Z]+\.[^`\s]*\$\{[^`]*)`/g).map(patternOf)
    const unused = [...keys].filter(
      (key) =>
        !literal.has(key) && !Object.hasOwn(errorStatus, key) && !patterns.some((one) => one.test(key)),
    )
    expect(unused).toEqual([])
  })
})

function read(folder: string): string[] {
  const place = fileURLToPath(new URL(`../${folder}/`, import.meta.url))
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test|\.d)\.tsx?$/.test(file))
    .map((file) => readFileSync(`${place}${file}`, 'utf8'))
}

function allOf(source: string, pattern: RegExp): string[] {
  return [...new Set([...source.matchAll(pattern)].flatMap(([, found]) => found ?? []))]
}

/** `status.${label}` fits every key with one part more. */
function patternOf(template: string): RegExp {
  const fixed = template.split(/\$\{[^}]*\}/).map((part) => part.replaceAll('.', '\\.'))
  return new RegExp(`^${fixed.join('[\\w-]+(?:\\.\\w+)?')}$`)
}
