import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { z } from 'zod'

/** An answer of the server: its data, or its error code. */
export type ApiAnswer<Data> = { data: Data } | { err: string; status: number }

const answerLimitBytes = 65_536
const answerWithinMs = 10_000

const errorSchema = z.object({ Err: z.string().max(100) })

/**
 * POSTs JSON to the server. The certificate is verified, with `ca` (PEM) beside the system's own where it is given.
 * @throws Error on a network fault or an answer that is none of ours.
 */
export async function postJson<Data>(
  url: URL,
  body: unknown,
  options: { ca: string | undefined; schema: z.ZodType<Data> },
): Promise<ApiAnswer<Data>> {
  const { status, text } = await exchange(url, { method: 'POST', body: JSON.stringify(body), ca: options.ca })
  const answer: unknown = JSON.parse(text)
  if (status >= 200 && status < 300) return z.object({ data: options.schema }).parse(answer)
  return { err: errorCodeOf(text) ?? 'err.internal', status }
}

/** The error code of an answer's body, if it is one of ours. */
export function errorCodeOf(text: string): string | undefined {
  try {
    return errorSchema.parse(JSON.parse(text)).Err
  } catch {
    return undefined
  }
}

/**
 * One request and its answer as it came.
 * @throws Error on a network fault, after 10 s without a word, and for an answer above `limitBytes`.
 */
export function exchange(
  url: URL,
  {
    method,
    headers = {},
    body,
    ca,
    limitBytes = answerLimitBytes,
  }: {
    method: 'GET' | 'POST'
    headers?: Record<string, string>
    /** JSON. */
    body?: string
    ca: string | undefined
    limitBytes?: number
  },
): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const isJson = body === undefined ? {} : { 'content-type': 'application/json' }
  const request = send(url, {
    method,
    headers: { ...isJson, 'content-length': Buffer.byteLength(body ?? ''), ...headers },
    ...(ca === undefined ? {} : { ca }),
    // A connection of its own: one that was kept would come from the address that this host had then.
    agent: false,
    timeout: answerWithinMs,
  })
  request.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
      if (text.length > limitBytes) request.destroy(new Error('the answer is too long'))
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    response.on('error', reject)
  })
  request.on('timeout', () => request.destroy(new Error('no answer in time')))
  request.on('error', reject)
  request.end(body ?? '')
  return promise
}
