/** 0 very weak, 1 weak, 2 acceptable, 3 strong, 4 very strong. Portal §4. */
export type PasswordStrength = 0 | 1 | 2 | 3 | 4

/** Judges a password; `ownWords` are its owner's names, which help nobody who knows him. */
export type StrengthCheck = (password: string, ownWords?: readonly string[]) => PasswordStrength

/** As long as a password may be; time to judge grows with the length. */
const longestPassword = 64

let loading: Promise<StrengthCheck> | undefined

/**
 * Loads zxcvbn with its list of common passwords, keyboards and diceware words (language-common), once and only
 * when somebody types a new password: 240 kB that nobody else downloads. The English word lists would be 600 kB more.
 * An aid while typing; the rules are the server's: length, leaked passwords, user name.
 */
export function loadStrengthCheck(): Promise<StrengthCheck> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

async function load(): Promise<StrengthCheck> {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ])
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: longestPassword })
  return (password, ownWords = []) => zxcvbn.check(password, toInputs(ownWords)).score
}

/** Whole names and their parts: `Ada Lovelace`, `ada.lovelace@example.com`. */
const toInputs = (names: readonly string[]): string[] =>
  ['knoc', ...names, ...names.flatMap((name) => name.split(/[\s.@_-]+/))].filter((word) => word.length >= 3)
