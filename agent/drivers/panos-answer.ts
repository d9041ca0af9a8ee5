import { DOMParser } from '@xmldom/xmldom'

/** What the XML API said: whether it took the command, its code if it gave one, and its words on one line. */
export type PanosAnswer = { isSuccess: boolean; code: string | null; words: string }

const longestWords = 300

/**
 * Reads an answer of the XML API; undefined for anything else, such as a page of a proxy. Its shapes (quotes and
 * spaces of attributes differ, too): `<result>…`, `<result><msg>…`, `<msg>…`, `<msg><line>…` once or often.
 * https://docs.paloaltonetworks.com/ngfw/api/getting-started/pan-os-xml-api-error-codes
 */
export function readPanosAnswer(text: string): PanosAnswer | undefined {
  // No answer has one; what it may declare is not for us to expand.
  if (/<!DOCTYPE|<!ENTITY/i.test(text)) return undefined
  try {
    const { documentElement } = new DOMParser({ errorHandler: refuseAll }).parseFromString(text, 'text/xml')
    const status = documentElement?.getAttribute('status')
    if (documentElement?.nodeName !== 'response' || !status) return undefined
    return {
      isSuccess: status === 'success',
      code: documentElement.getAttribute('code') || null,
      words: toWords(documentElement),
    }
  } catch {
    return undefined
  }
}

/** `<`, `&` and quotes of a value as XML writes them. */
export const escapeXml = (value: string): string =>
  value.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

function toWords(element: Element): string {
  const lines = Array.from(element.getElementsByTagName('line'))
  const texts = (lines.length > 0 ? lines : [element]).map(({ textContent }) => textContent ?? '')
  return texts
    .join('; ')
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, longestWords)
}

/** Nothing is repaired. */
const refuse = (message: unknown): never => {
  throw new Error(String(message))
}
const refuseAll = { warning: refuse, error: refuse, fatalError: refuse }
