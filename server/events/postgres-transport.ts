import { Client } from 'pg'
import { type DatabaseConnection, toClientConfig } from '../platform/database-connection.ts'
import type { HintTransport } from './create-event-hub.ts'

const channel = 'knoc_hints'
/** A notification's payload may have 8,000 bytes; an id and its space have 37. */
const idsANotification = 200
const reconnectMs = 1_000

/**
 * Hints over NOTIFY, on one connection of its own and never inside a transaction of a grant: NOTIFY takes a lock
 * at commit that all committers share (decision 40). Reconnects for ever; hints of the meantime are lost.
 */
export function createPostgresTransport(connection: DatabaseConnection): HintTransport {
  let client: Client | null = null
  let receive: (sessionIds: readonly string[]) => void = () => undefined
  let closed = false

  async function connect(): Promise<void> {
    if (closed) return
    const next = new Client({
      ...toClientConfig(connection),
      application_name: 'knoc hints',
      keepAlive: true,
    })
    next.on('error', () => undefined)
    next.on('end', () => {
      client = null
      if (!closed) setTimeout(() => void connect(), reconnectMs)
    })
    next.on('notification', (message) => receive((message.payload ?? '').split(' ').filter(Boolean)))
    try {
      await next.connect()
      await next.query(`listen ${channel}`)
      client = next
    } catch {
      await next.end().catch(() => undefined)
    }
  }

  return {
    send(sessionIds) {
      for (let from = 0; from < sessionIds.length; from += idsANotification)
        client
          ?.query('select pg_notify($1, $2)', [
            channel,
            sessionIds.slice(from, from + idsANotification).join(' '),
          ])
          .catch(() => undefined)
    },
    listen(next) {
      receive = next
      void connect()
    },
    async close() {
      closed = true
      await client?.end().catch(() => undefined)
    },
  }
}
