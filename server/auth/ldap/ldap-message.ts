/** One element of BER: its tag and what is in it. */
type Element = { tag: number; content: Buffer }

const [integer, octets, enumerated, sequence, set] = [0x02, 0x04, 0x0a, 0x30, 0x31]
const controls = 0xa0

/** The answers we ask for, by their tag (RFC 4511 §4), and what has to be in each. */
const answers: Record<number, (parts: readonly Element[]) => boolean> = {
  // BindResponse, SearchResultDone, ExtendedResponse
  0x61: isResult,
  0x65: isResult,
  0x78: isResult,
  // SearchResultEntry, SearchResultReference
  0x64: isEntry,
  0x73: (parts) => parts.every(isOctets),
}

/**
 * Whether a message is an answer as RFC 4511 has it, to the last nested length. ldapts believes what it reads: an
 * empty result is a success to it, and a length that points past the end keeps it reading for ever.
 */
export function isAnswer(message: Buffer): boolean {
  const [envelope, ...none] = toElements(message) ?? []
  if (envelope?.tag !== sequence || none.length > 0) return false
  const [id, answer, ...rest] = toElements(envelope.content) ?? []
  if (id?.tag !== integer || id.content.length === 0 || id.content.length > 4) return false
  const parts = answer && toElements(answer.content)
  if (answer === undefined || parts === undefined || !answers[answer.tag]?.(parts)) return false
  return rest.length === 0 || (rest.length === 1 && areControls(rest[0]))
}

/**
 * Bytes of the first message in a buffer.
 *
 * @returns undefined while too little has come to say; 0 when this can't become a message.
 */
export function lengthOfMessage(bytes: Buffer): number | undefined {
  if (bytes.length > 0 && bytes[0] !== sequence) return 0
  const header = readHeader(bytes)
  return typeof header === 'object' ? header.start + header.length : header
}

function isResult([code, matched, message, ...rest]: readonly Element[]): boolean {
  const isCoded = code?.tag === enumerated && code.content.length === 1
  return isCoded && isOctets(matched) && isOctets(message) && rest.every(({ tag }) => tag >= 0x80)
}

function isEntry([name, attributes, ...none]: readonly Element[]): boolean {
  if (!isOctets(name) || attributes?.tag !== sequence || none.length > 0) return false
  return toElements(attributes.content)?.every(isAttribute) ?? false
}

function isAttribute(attribute: Element): boolean {
  const [type, values, ...none] = (attribute.tag === sequence && toElements(attribute.content)) || []
  if (!isOctets(type) || values?.tag !== set || none.length > 0) return false
  return toElements(values.content)?.every(isOctets) ?? false
}

function areControls(element: Element | undefined): boolean {
  if (element?.tag !== controls) return false
  const isControl = ({ tag, content }: Element) => tag === sequence && isOctets(toElements(content)?.[0])
  return toElements(element.content)?.every(isControl) ?? false
}

const isOctets = (element: Element | undefined): boolean => element?.tag === octets

/** The elements that a content consists of; undefined when their lengths don't add up to it. */
function toElements(bytes: Buffer): Element[] | undefined {
  const elements: Element[] = []
  for (let rest = bytes; rest.length > 0; ) {
    const header = readHeader(rest)
    if (typeof header !== 'object' || header.start + header.length > rest.length) return undefined
    const end = header.start + header.length
    elements.push({ tag: rest.readUInt8(0), content: rest.subarray(header.start, end) })
    rest = rest.subarray(end)
  }
  return elements
}

/** Where an element's content starts and how long it is; of LDAP's BER only definite lengths (RFC 4511 §5.1). */
function readHeader(bytes: Buffer): { start: number; length: number } | 0 | undefined {
  const first = bytes[1]
  if (first === undefined) return undefined
  if (first < 0x80) return { start: 2, length: first }
  const size = first & 0x7f
  if (size === 0 || size > 4) return 0
  return bytes.length < 2 + size ? undefined : { start: 2 + size, length: bytes.readUIntBE(2, size) }
}
