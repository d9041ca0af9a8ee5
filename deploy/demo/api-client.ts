/** An answer that was no success. */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, where: string) {
    super(`${where} answered ${status} ${code}`)
    this.status = status
    this.code = code
  }
}

export type ApiClient = ReturnType<typeof createApiClient>

/**
 * A signed-in program's view of the API: keeps its cookies, unwraps the envelope, throws `ApiFailure`.
 * `ask` carries the requests, for a caller who has to send them from elsewhere.
 */
export function createApiClient(
  server: string,
  ask: (url: string, init: RequestInit) => Promise<Response> = fetch,
) {
  const cookies = new Map<string, string>()

  async function request<Data>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Data> {
    const response = await ask(`${server}/api${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    })
    for (const cookie of response.headers.getSetCookie()) keep(cookie)
    const answer = (await response.json().catch(() => ({}))) as { data?: Data; Err?: string; Extra?: string }
    if (!response.ok)
      throw new ApiFailure(response.status, [answer.Err, answer.Extra].filter(Boolean).join(' '), path)
    return answer.data as Data
  }

  function keep(cookie: string): void {
    const [pair = ''] = cookie.split(';')
    const [name = '', ...value] = pair.split('=')
    cookies.set(name, value.join('='))
  }

  return { request }
}
