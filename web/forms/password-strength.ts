/** 0 very weak, 1 weak, 2 acceptable, 3 strong, 4 very strong. Portal §4. */
export type PasswordStrength = 0 | 1 | 2 | 3 | 4

/** Bits from which on a password is weak, acceptable, strong, very strong. */
const steps = [28, 40, 56, 72]

const common = [
  'password',
  'passwort',
  'welcome',
  'letmein',
  'qwerty',
  'qwertz',
  'azerty',
  'admin',
  'abc123',
  'iloveyou',
  'monkey',
  'dragon',
  'knoc',
  '123456',
  '111111',
  'summer',
  'winter',
]
const rows = ['abcdefghijklmnopqrstuvwxyz', '0123456789', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']

/**
 * A rough measure of how hard a password is to guess: the size of its alphabets times its length, where words
 * everybody uses, the owner's own names, runs and repetitions count as one sign. An aid while typing, not a rule:
 * the rule is the length.
 */
export function passwordStrength(password: string, ownWords: readonly string[] = []): PasswordStrength {
  const bits = effectiveLength(password, ownWords) * Math.log2(alphabetOf(password))
  return steps.filter((step) => bits >= step).length as PasswordStrength
}

function effectiveLength(password: string, ownWords: readonly string[]): number {
  let text = password.toLowerCase()
  for (const word of [...common, ...ownWords.map((own) => own.toLowerCase())])
    if (word.length >= 3) text = text.replaceAll(word, '\0')
  const signs = Array.from(text)
  return signs.filter((sign, index) => !continues(signs[index - 1], sign)).length
}

const continues = (before: string | undefined, sign: string): boolean =>
  before !== undefined && (before === sign || rows.some((row) => isNeighbour(row, before, sign)))

const isNeighbour = (row: string, one: string, other: string): boolean =>
  row.includes(one) && row.includes(other) && Math.abs(row.indexOf(one) - row.indexOf(other)) === 1

function alphabetOf(password: string): number {
  const sizes: [RegExp, number][] = [
    [/[a-z]/, 26],
    [/[A-Z]/, 26],
    [/[0-9]/, 10],
    [/[\x20-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e]/, 33],
    [/[^\x20-\x7e]/, 100],
  ]
  return Math.max(
    2,
    sizes.reduce((sum, [pattern, size]) => sum + (pattern.test(password) ? size : 0), 0),
  )
}
