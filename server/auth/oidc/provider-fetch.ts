import { type ApiError, apiError } from '../../errors.ts'

/** Longest wait for one answer of a provider, in seconds. */
export const providerSeconds = 5

/** Longest answer that is read, in bytes: metadata and keys are some kB, claims with a thousand groups some more. */
const longestAnswerBytes = 512 * 1024

type Options = { signal?: AbortSignal; redirect: 'manual'; method: string; headers: HeadersInit }

/**
 * Asks a provider within limits of time and size; redirects aren't followed.
 *
 * @throws err.identityProviderUnavailable when it doesn't answer, answers with 5xx, or without end.
 */
export async function fetchFromProvider(url: string, options: Options): Promise<Response> {
  const init: RequestInit = {
    ...options,
    signal: options.signal ?? AbortSignal.timeout(providerSeconds * 1000),
  }
  const response = await fetch(url, init).catch((cause: unknown) => refuse(url, 'did not answer', cause))
  const body = await readWithin(response, url)
  if (response.status >= 500) refuse(url, `answered ${response.status}`)
  return new Response(body.byteLength === 0 ? null : body, {
    status: response.status,
    headers: response.headers,
  })
}

async function readWithin(response: Response, url: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  const fail = (cause: unknown) => refuse(url, 'broke off its answer', cause)
  for (const reader = response.body?.getReader(); reader !== undefined; ) {
    const { done, value } = await reader.read().catch(fail)
    if (done) break
    length += value.byteLength
    if (length > longestAnswerBytes) {
      await reader.cancel().catch(() => undefined)
      refuse(url, 'answered too much')
    }
    chunks.push(value)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

function refuse(url: string, what: string, cause?: unknown): never {
  const { origin, pathname } = new URL(url)
  throw unavailable(`${origin}${pathname} ${what}`, cause)
}

/** Says that a provider can't be used now; the log and the audit log tell why. */
export const unavailable = (detail: string, cause?: unknown): ApiError =>
  apiError('err.identityProviderUnavailable', { detail, cause })
