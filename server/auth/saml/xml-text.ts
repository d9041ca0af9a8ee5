/** How large a document may be. */
export type XmlLimits = { characters: number; depth: number; elements: number }

/** A tag; `<` never stands within one in well-formed XML, so the search takes linear time. */
const tags = /<(\/?)(?:[^"'<>]|"[^"<]*"|'[^'<]*')*?(\/?)>/g

const declaration = /^\s*<\?xml\s[^<>]*?\?>/

/** What a message has no use for, and attacks are made of: entities, comments that split a text, hidden markup. */
const unwanted: readonly [sign: string, reason: string][] = [
  ['<!--', 'comment'],
  ['<![CDATA[', 'CDATA section'],
  ['<!', 'document type or entity declaration'],
  ['<?', 'processing instruction'],
]

/**
 * Why a text is not to be given to any parser; undefined when it may be. Within well-formed XML `<!` begins document
 * types, comments and CDATA sections only, so that these two signs keep entities and parser differences out at once.
 */
export function findXmlFault(text: string, limits: XmlLimits): string | undefined {
  if (text.length > limits.characters) return `longer than ${limits.characters} characters`
  const [declared = ''] = declaration.exec(text) ?? []
  const encoding = /encoding\s*=\s*["']([^"']*)["']/.exec(declared)?.[1] ?? 'utf-8'
  if (encoding.toLowerCase() !== 'utf-8') return 'another encoding than UTF-8'
  const body = text.slice(declared.length)
  return unwanted.find(([sign]) => body.includes(sign))?.[1] ?? findNestingFault(body, limits)
}

function findNestingFault(body: string, limits: XmlLimits): string | undefined {
  let [depth, elements, seen] = [0, 0, 0]
  for (const [, closes, isEmpty] of body.matchAll(tags)) {
    seen += 1
    if (closes === '/') depth -= 1
    else {
      elements += 1
      if (depth >= limits.depth) return `nested deeper than ${limits.depth}`
      if (isEmpty !== '/') depth += 1
    }
    if (elements > limits.elements) return `more than ${limits.elements} elements`
  }
  return seen === body.split('<').length - 1 && depth === 0 ? undefined : 'not well-formed'
}
