import type { KnocCreated } from '#server/knocs/knoc.schema.ts'
import type { AclStatus } from '#server/status/status.schema.ts'
import { type DiscoveryApi, startDiscoveryApi, statusOf } from './discovery-api.ts'
import { type Browser, createBrowser } from './people-api.ts'
import { anAdmin, rightPassword } from './people-builders.ts'

/** A firewall's answer, as a test looks at it. */
export type Fetched = { status: number; text: string; etag: string | null; headers: Headers }

/** The whole application with an administrator, and firewalls that fetch its passive lists. */
export type ListApi = Awaited<ReturnType<typeof startListApi>>

/** Starts it behind the given trusted proxies. */
export async function startListApi(env: Record<string, string> = {}) {
  const api = await startDiscoveryApi(env)
  const root = await anAdmin(api.people)
  const console = createBrowser((path, init) => api.app.request(path, init, { peer: '198.51.100.7' }))
  await console.post('/admin/login', { UserName: root.userName, Password: rightPassword })
  let last = 0

  return {
    ...api,
    console,
    /** An address that nobody else in the test has. */
    anAddress: () => `198.51.100.${(last += 1)}`,
    makeKnoc: (body: Record<string, unknown>) => console.post('/admin/knocs', knocBody(body)),
    /** A list, read with a key of its own unless `ApiKey` says otherwise. */
    aList: async (body: Record<string, unknown> = {}): Promise<TestList> => {
      const { status, body: answer } = await console.post('/admin/knocs', knocBody(body))
      if (status !== 201) throw new Error(`no list was made: ${status} ${JSON.stringify(answer)}`)
      return toTestList(answer.data)
    },
    fetchList: fetchFrom(api),
    entryOf: async (person: Pick<Browser, 'get'>, { aclId }: { aclId: string }): Promise<AclStatus> => {
      const { ACLs } = await statusOf(person)
      const entry = ACLs.find((acl: AclStatus) => acl.ACLID === aclId)
      if (entry === undefined) throw new Error(`${aclId} is not in the status`)
      return entry
    },
  }
}

/** A list as it was made: its knoc, its address in both forms, and what was told of its key. */
export type TestList = { aclId: string; token: string; path: string; json: string; key: string; url: string }

const toTestList = ({ ID, URL: url = '', PlaintextKey = '' }: KnocCreated): TestList => {
  const path = new URL(url).pathname
  return {
    ...{ aclId: ID, url, path, key: PlaintextKey },
    json: path.replace(/\.txt$/, '.json'),
    token: /([^/]+)\.txt$/.exec(path)?.[1] ?? '',
  }
}

let made = 0

function knocBody({ ACL = {}, Config = {}, ...rest }: Record<string, unknown>) {
  made += 1
  return {
    Backend: { AgentID: null, Config: { allowlist: {} } },
    ACL: {
      Description: `Firewall ${made}`,
      ClickToGrant: true,
      Config: { allowlist: Config },
      ...(ACL as object),
    },
    ApiKey: { Option: 'new', Name: `Firewall key ${made}` },
    ...rest,
  }
}

/** What a firewall does: GET or HEAD of a path, from an address, with a key by HTTP basic unless `bearer`. */
export const fetchFrom =
  ({ app }: Pick<DiscoveryApi, 'app'>) =>
  async (
    path: string,
    {
      key,
      bearer = false,
      peer = '192.0.2.10',
      etag,
      method = 'GET',
      headers = {},
    }: {
      key?: string
      bearer?: boolean
      peer?: string
      etag?: string | null
      method?: string
      headers?: Record<string, string>
    } = {},
  ): Promise<Fetched> => {
    const authorization = bearer
      ? `Bearer ${key}`
      : `Basic ${Buffer.from(`apikey:${key}`).toString('base64')}`
    const response = await app.request(
      path,
      {
        method,
        headers: {
          ...(key !== undefined && { Authorization: authorization }),
          ...(etag != null && { 'If-None-Match': etag }),
          ...headers,
        },
      },
      { peer },
    )
    const { status, headers: said } = response
    return { status, text: await response.text(), etag: said.get('ETag'), headers: said }
  }
