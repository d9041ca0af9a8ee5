import type { Kysely } from 'kysely'
import { authenticateLink, linkRefusals } from '../agents/link-authentication.ts'
import type { DB } from '../platform/database.types.ts'
import { clientAddress } from '../platform/http/client-address.ts'
import { createAddressMatcher } from '../platform/http/ip-address.ts'
import type { Log } from '../platform/log.ts'
import type { Sealer } from '../platform/secrets.ts'
import type { OnUpgrade } from '../platform/upgrade.ts'
import type { createGateway } from './create-gateway.ts'

/** The one path agents connect to. */
const linkPath = '/api/agent/link'

/** Takes agents' WebSockets: authenticated by the header of the request, before any frame is read (decision 29). */
export function takeUpgrade(deps: {
  db: Kysely<DB>
  sealer: Sealer
  server: string
  trustedProxies: readonly string[]
  gateway: Pick<ReturnType<typeof createGateway>, 'accept' | 'release'>
  log: Log
}): OnUpgrade {
  const isTrusted = createAddressMatcher(deps.trustedProxies)
  return async function onUpgrade({ request, peer, accept, refuse }) {
    if (new URL(request.url ?? '/', 'http://agent').pathname !== linkPath) return refuse('err.notFound')
    const headers = toHeaders(request.headers)
    const verdict = await authenticateLink(deps, headers)
    if ('refused' in verdict) {
      deps.log.warn({ peer, reason: verdict.refused }, 'an agent was refused')
      return refuse(linkRefusals[verdict.refused])
    }
    const externalIp = clientAddress({ peer, headers, isTrusted }).address
    const webSocket = await accept()
    const link = deps.gateway.accept(
      { agentId: verdict.agentId, externalIp },
      {
        send: (text) => webSocket.send(text),
        close: (code, reason) => webSocket.close(code, reason),
        terminate: () => webSocket.terminate(),
        get bufferedAmount() {
          return webSocket.bufferedAmount
        },
      },
    )
    webSocket.on('message', (data, isBinary) => link.receive(isBinary ? '' : toText(data)))
    webSocket.on('close', (code) => deps.gateway.release(link, code))
  }
}

function toText(data: Buffer | ArrayBuffer | Buffer[]): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8')
}

function toHeaders(raw: NodeJS.Dict<string | string[]>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(raw))
    for (const one of [value ?? []].flat()) headers.append(name, one)
  return headers
}
