import type { DriverError } from './driver.ts'
import { type PanosAnswer, readPanosAnswer } from './panos-answer.ts'

/** What a command came to: the device's words when it took it, else why not. */
export type PanosReply = { words: string } | { error: DriverError }

/** A command as far as its failure is told with it. */
type Asked = { hostname: string; apiKey: string; vsys: string; target: string | undefined }

/**
 * What an answer over HTTP means. PAN-OS says errors with status 200 and a code inside, and keys that it refuses with
 * 403 and the code 403; what stands between may answer pages of its own.
 */
export function toReply({ status, text }: { status: number; text: string }, asked: Asked): PanosReply {
  const answer = readPanosAnswer(text)
  if (answer === undefined) return { error: toStrangeError(status, asked.hostname) }
  // No device is known to repeat a key; what it says is read by people and logged.
  const words = answer.words.replaceAll(asked.apiKey, '…')
  if (answer.isSuccess && status === 200 && !isDenial(words)) return { words }
  return { error: toRefusal({ ...answer, words }, asked) }
}

/** Some commands are refused with the status of success. */
const isDenial = (words: string): boolean =>
  !/\benqueued\b/i.test(words) && /\b(?:not found|does not exist|no such|invalid|failed)\b/i.test(words)

/** Codes: https://docs.paloaltonetworks.com/ngfw/api/getting-started/pan-os-xml-api-error-codes */
function toRefusal({ code, words }: PanosAnswer, { hostname, target, vsys }: Asked): DriverError {
  const said = words === '' ? `code ${code ?? 'unknown'}` : `“${words}”`
  if (/not authorized/i.test(words) || code === '16') {
    return {
      code: 'permission',
      text: `the API key’s administrator may not run this command on ${hostname}: ${said}`,
    }
  }
  if (code === '403' || code === '22') {
    return { code: 'keyRefused', text: `${hostname} refused the API key: ${said}` }
  }
  if (target !== undefined && /not connected|invalid target|unknown target/i.test(words)) {
    return { code: 'unknownDevice', text: `${hostname} has no connected firewall ${target}: ${said}` }
  }
  if (/busy|in progress|try again|too many|job queue|pending/i.test(words)) {
    return { code: 'deviceBusy', text: `${hostname} is busy: ${said}` }
  }
  // "Current target-vsys is vsys1" ends a message about something else.
  if (/\bvsys\d*\b(?!-)/i.test(words.replace(/current target-vsys.*$/i, ''))) {
    return { code: 'unknownVsys', text: `${hostname} does not know ${vsys}: ${said}` }
  }
  if (
    code === '7' ||
    code === '13' ||
    /\bname\b.* is (?:invalid|not a valid)|not found|no such/i.test(words)
  ) {
    return { code: 'listMissing', text: `${hostname} has no such list of addresses in ${vsys}: ${said}` }
  }
  return { code: 'deviceRefused', text: `${hostname} refused the command: ${said}` }
}

function toStrangeError(status: number, hostname: string): DriverError {
  if (status === 401 || status === 403) {
    return { code: 'keyRefused', text: `${hostname} refused the API key with HTTP ${status}` }
  }
  if (status === 429 || status === 503) {
    return { code: 'deviceBusy', text: `${hostname} is busy: it answered HTTP ${status}` }
  }
  return {
    code: 'badAnswer',
    text: `${hostname} answered HTTP ${status} with something that is not its XML API; is it the management address?`,
  }
}

/** A fault on the way, in words: certificates apart from the rest, because they are mended elsewhere. */
export function toNetworkError(fault: Error, hostname: string): DriverError {
  const code = (fault as NodeJS.ErrnoException).code ?? ''
  if (/cert|issuer|self.signed/i.test(`${code} ${fault.message}`)) {
    return {
      code: 'untrusted',
      text: `the certificate of ${hostname} is not trusted: ${fault.message}`.slice(0, 500),
    }
  }
  return { code: 'unreachable', text: `${hostname} cannot be reached: ${fault.message}`.slice(0, 500) }
}
