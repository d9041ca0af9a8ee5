/** A lookup's answer is an address and nothing else; what is longer than this many bytes is none. */
const longestAnswer = 64

/**
 * Asks one lookup service which address it sees. Null for whatever isn't an address: refused, blocked, a page of
 * somebody else's, an answer without an end.
 */
export async function askAddress(url: string, signal: AbortSignal): Promise<string | null> {
  try {
    const response = await fetch(url, {
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal,
    })
    const text = await readShort(response)
    return response.ok ? parseAddress(text) : null
  } catch {
    return null
  }
}

/** An IPv4 or IPv6 address as it was spelled, white space around it apart; else null. */
export function parseAddress(text: string): string | null {
  const address = text.trim()
  return isIPv4(address) || isIPv6(address) ? address : null
}

/** The whole of a short body; '' for a longer one, which isn't read any further. */
async function readShort({ body }: Response): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let size = 0
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > longestAnswer) {
      await reader.cancel()
      return ''
    }
    text += decoder.decode(value, { stream: true })
  }
}

const isIPv4 = (text: string): boolean =>
  /^(\d{1,3}\.){3}\d{1,3}$/.test(text) &&
  text.split('.').every((part) => Number(part) <= 255 && String(Number(part)) === part)

/** The URL parser knows every spelling. */
const isIPv6 = (text: string): boolean =>
  text.includes(':') && /^[0-9a-f:.]{2,45}$/i.test(text) && URL.canParse(`http://[${text}]/`)
