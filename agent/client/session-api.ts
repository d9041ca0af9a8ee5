import { z } from 'zod'
import { exchange } from '../server-api.ts'
import { agentVersion } from '../version.ts'
import { type ClientStatus, clientStatusSchema, userAuthAnswerSchema } from './status.schema.ts'

/** What the client asks of the server. */
export type SessionApi = {
  /** Signs in; with `replaces`, the token of the session so far, nothing that is open closes in between. */
  signIn: (replaces?: string) => Promise<{ token: string }>
  /** How everything stands. Shows the server where this host is: access moves along. */
  status: (token: string) => Promise<ClientStatus>
  grant: (token: string, aclId: string) => Promise<void>
  signOut: (token: string) => Promise<void>
}

/** The server's refusal. Whatever else is thrown means that nobody could be asked. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly extra: string | undefined

  constructor(status: number, { Err, Extra }: { Err: string; Extra?: string | undefined }) {
    super(Err)
    this.name = 'Refusal'
    this.status = status
    this.code = Err
    this.extra = Extra
  }
}

/** A user may have thousands of entries. */
const answerLimitBytes = 16 * 1024 * 1024

const refusalSchema = z.object({ Err: z.string().max(100), Extra: z.string().max(500).optional() })

/** The calls of a machine, by the API key. Each throws `Refusal`, or an Error when the server can't be reached. */
export function createSessionApi({
  server,
  ca,
  key,
}: {
  server: URL
  /** PEM text of an authority to be trusted beside the usual ones. */
  ca: string | undefined
  key: string
}): SessionApi {
  async function ask<Data>(
    method: 'GET' | 'POST',
    path: string,
    { schema, token, headers, body }: AskOptions<Data>,
  ): Promise<Data> {
    const { status, text } = await exchange(new URL(`/api${path}`, server), {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'user-agent': `knoc-client/${agentVersion}`,
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ca,
      limitBytes: answerLimitBytes,
    })
    const answer = toJson(text)
    if (status === 200) return z.object({ data: schema }).parse(answer).data
    const refusal = refusalSchema.safeParse(answer)
    if (!refusal.success) throw new Error(`the answer (HTTP ${status}) is none of a Knoc server's`)
    if (status >= 500) throw new Error(`the server is in trouble (${refusal.data.Err})`)
    throw new Refusal(status, refusal.data)
  }

  return {
    async signIn(replaces) {
      const headers = replaces === undefined ? {} : { 'x-knoc-replaces': replaces }
      const { Token } = await ask('POST', '/v1/user_auth', {
        ...{ token: key, headers, body: {} },
        schema: userAuthAnswerSchema,
      })
      return { token: Token }
    },
    status: (token) =>
      ask('GET', '/status', { token, headers: { 'x-knoc-revalidate': '1' }, schema: clientStatusSchema }),
    grant: async (token, ACLID) => {
      await ask('POST', '/grant', { token, body: { ACLID, IPs: [] }, schema: z.unknown() })
    },
    signOut: async (token) => {
      await ask('POST', '/logout', { token, schema: z.unknown() })
    },
  }
}

type AskOptions<Data> = {
  token: string
  schema: z.ZodType<Data>
  headers?: Record<string, string>
  body?: unknown
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
