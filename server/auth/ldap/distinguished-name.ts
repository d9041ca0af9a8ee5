const longestName = 2000

/**
 * A distinguished name (RFC 4514) so that two ways of writing it are the same text: without regard to case, to
 * spaces around its signs and to how something is escaped.
 *
 * @returns undefined for what isn't one, the empty name included: a bind with that proves nothing (RFC 4513 §5.1).
 */
export function normaliseDn(text: string): string | undefined {
  if (text.length > longestName) return undefined
  const rdns = split(text, ',').map((rdn) => split(rdn, '+').map(toPair))
  if (!rdns.every((pairs) => pairs.every((pair) => pair !== undefined))) return undefined
  return rdns.map((pairs) => pairs.toSorted().join('+')).join(',')
}

/** At signs that aren't escaped. */
function split(text: string, sign: ',' | '+'): string[] {
  const parts = ['']
  for (const [piece] of text.matchAll(/\\[\s\S]|[\s\S]/gu))
    if (piece === sign) parts.push('')
    else parts[parts.length - 1] += piece
  return parts
}

const pair = /^\s*(?<type>[a-z][a-z\d-]*|\d+(?:\.\d+)+)\s*=\s*(?<value>(?:\\[\s\S]|[^\\])*?)\s*$/iu

function toPair(text: string): string | undefined {
  const { type = '', value = '' } = pair.exec(text)?.groups ?? {}
  if (type === '' || value === '') return undefined
  // oxlint-disable-next-line no-control-regex -- what may not stand there unescaped
  if (/["\0]/.test(value.replaceAll(/\\[\s\S]/gu, ''))) return undefined
  return JSON.stringify([type.toLowerCase(), unescape(value).replaceAll(/\s+/gu, ' ').toLowerCase()])
}

/** `\,` is a comma, `\2C` one too; several bytes in a row are one character of UTF-8. */
function unescape(value: string): string {
  return value.replaceAll(/(?:\\[\da-f]{2})+|\\([\s\S])/giu, (escaped, sign: string | undefined) =>
    sign === undefined ? Buffer.from(escaped.replaceAll('\\', ''), 'hex').toString('utf8') : sign,
  )
}
