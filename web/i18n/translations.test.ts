import { describe, expect, it } from 'vitest'
import germanAdmin from './de.admin.json' with { type: 'json' }
import german from './de.json' with { type: 'json' }
import englishAdmin from './en-AU.admin.json' with { type: 'json' }
import english from './en-AU.json' with { type: 'json' }
import americanAdmin from './en-US.admin.json' with { type: 'json' }
import american from './en-US.json' with { type: 'json' }

type Texts = Readonly<Record<string, string>>
type Bundle = { english: Texts; german: Texts; american: Texts }

const bundles: [string, Bundle][] = [
  ['portal', { english, german, american }],
  ['console', { english: englishAdmin, german: germanAdmin, american: americanAdmin }],
]

/** What reads the same in German, and why. */
const sameInGerman: Record<string, readonly string[]> = {
  'a name of the product': ['Agent', 'Agents', 'Knocs', 'Kiosk', 'Passkeys', 'Token'],
  'a protocol, a program or a privilege of its name': [
    'LDAP',
    'OIDC',
    'SAML',
    'StartTLS',
    'URL',
    'root',
    'sudo',
    'CAP_NET_ADMIN',
  ],
  'a word of both languages': [
    'Agent offline',
    'Agents online',
    'Cloud',
    'Code',
    'Container',
    'Dashboard',
    'Details',
    'Hammer',
    'Laptop',
    'Name',
    'Offline',
    'OK',
    'Online',
    'optional',
    'Proxy',
    'Router',
    'Server',
    'Smartphone',
    'Status',
    'System',
    'Terminal',
    'Version',
    'Video',
  ],
  'nothing but variables': ['{{users}}, {{groups}}'],
}

/** Words that the German texts have another one for, so that one thing has one name. */
const otherWords: readonly [RegExp, string][] = [
  [/\b(du|dich|dir|dein\w*|euch|euer)\b/i, 'Sie'],
  [/\bKennwort/i, 'Passwort'],
  [/\b(User|Nutzer|Anwender)s?\b/, 'Benutzer'],
  [/\bAgenten\b/, 'Agent, Agents'],
  [/\b(Login|einloggen|ausloggen)/i, 'anmelden, abmelden'],
  [/\bAccount/, 'Konto'],
  [/\bZug[aä]nge?s?\b/, 'Zugriff'],
  [/\bAdmins?\b(?!-)/, 'Administrator'],
  [/\b(Whitelist|Blacklist|Allowlist|Denylist)/i, 'Positivliste, Sperrliste'],
  [/\b(widerrufen|widerruft)\b/, 'entziehen'],
  [/["“](?=\w)|'|’|”/, '„…“'],
]

/** Words whose British spelling is not the American one. */
const britishSpelling =
  /colour|favour|behaviou?r(?<!behavior)|centre|\b\w+is(?:e[ds]?|ing|ation)\b(?<!\b(?:otherwise|raise[ds]?|raising|revise[ds]?|exercise[ds]?|promise[ds]?|rise|rising|advise[ds]?|wise|noise|precise|concise|enterprise|supervise[ds]?|compromise[ds]?|comprise[ds]?|surprise[ds]?|likewise|premise|expertise))|unauthorised|licen[c]e|\benrols?\b|cancell(?:ed|ing)\b|any more\b(?! than)|catalogue|grey|\btick\b|\bprogramme|travell|labell/i

const variables = (text: string): string[] => [...new Set(text.match(/\{\{[^}]*\}\}/g))].toSorted()
const base = (key: string): string => key.replace(/_(zero|one|two|few|many|other)$/, '')

describe.each(bundles)('the texts of the %s', (_name, bundle) => {
  const pairs = Object.entries(bundle.english).map(([key, text]) => ({
    key,
    text,
    inGerman: bundle.german[key] ?? '',
  }))

  it('are there in German, each with its plural forms, and nothing else', () => {
    expect(Object.keys(bundle.german).toSorted()).toEqual(Object.keys(bundle.english).toSorted())
  })

  it('have both plural forms of either language', () => {
    const plurals = new Set(
      Object.keys(bundle.english)
        .filter((key) => base(key) !== key)
        .map(base),
    )
    const wanted = (language: string) => new Intl.PluralRules(language).resolvedOptions().pluralCategories
    for (const language of ['en-AU', 'en-US', 'de'])
      expect(wanted(language).toSorted()).toEqual(['one', 'other'])
    const missing = [...plurals].flatMap((key) =>
      ['one', 'other']
        .filter((form) => bundle.english[`${key}_${form}`] === undefined)
        .map((form) => [key, form]),
    )
    expect(plurals.size).toBeGreaterThan(0)
    expect(missing).toEqual([])
  })

  it('have the same variables', () => {
    const differing = pairs.filter(
      ({ text, inGerman }) => variables(text).join() !== variables(inGerman).join(),
    )
    expect(differing).toEqual([])
  })

  it('are translated, but for names and what reads the same', () => {
    const allowed = new Set(Object.values(sameInGerman).flat())
    expect(pairs.filter(({ text, inGerman }) => text === inGerman && !allowed.has(text))).toEqual([])
  })

  it('are never empty, and have no blanks around them', () => {
    const { english: one, german: two, american: three } = bundle
    const faulty = [one, two, three].flatMap((texts) =>
      Object.entries(texts).filter(([, text]) => text === '' || text !== text.trim() || text.includes('  ')),
    )
    expect(faulty).toEqual([])
  })

  it('have one German word for one thing, and German quotation marks', () => {
    const faulty = pairs.flatMap(({ key, inGerman }) =>
      otherWords.flatMap(([wrong, right]) => (wrong.test(inGerman) ? [{ key, inGerman, right }] : [])),
    )
    expect(faulty).toEqual([])
  })

  it('fit where the English ones do: short labels stay short, and no word is wider than a phone', () => {
    const tooLong = pairs.filter(
      ({ text, inGerman }) =>
        (text.length <= 16 && inGerman.length > 30) ||
        (text.length <= 40 && inGerman.length > 2 * text.length + 20) ||
        inGerman.split(/[\s/-]+/).some((word) => word.length > 28 && !/[=.:]/.test(word)),
    )
    expect(tooLong).toEqual([])
  })

  it('are there in American English where the spelling differs, and only there', () => {
    const known = Object.entries(bundle.american)
    expect(known.filter(([key]) => bundle.english[key] === undefined)).toEqual([])
    expect(known.filter(([key, text]) => bundle.english[key] === text)).toEqual([])
    expect(known.filter(([, text]) => britishSpelling.test(text))).toEqual([])
    const missing = pairs.filter(
      ({ key, text }) => britishSpelling.test(text) && !Object.hasOwn(bundle.american, key),
    )
    expect(missing.map(({ key, text }) => [key, text])).toEqual([])
  })
})

it('the list of what reads the same has nothing that no text says', () => {
  const all = new Set(bundles.flatMap(([, bundle]) => Object.values(bundle.german)))
  expect(
    Object.values(sameInGerman)
      .flat()
      .filter((text) => !all.has(text)),
  ).toEqual([])
})
