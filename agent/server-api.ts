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
  const { status, text } = await exchange(url, JSON.stringify(body), options.ca)
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

function exchange(url: URL, body: string, ca: string | undefined): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const request = send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    ...(ca === undefined ? {} : { ca }),
    timeout: answerWithinMs,
  })
  request.on('response', (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => {
      text += chunk
      if (text.length > answerLimitBytes) request.destroy(new Error('the answer is too long'))
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    response.on('error', reject)
  })
  request.on('timeout', () => request.destroy(new Error('no answer in time')))
  request.on('error', reject)
  request.end(body)
  return promise
}
