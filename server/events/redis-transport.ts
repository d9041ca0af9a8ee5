import { Redis } from 'ioredis'
import type { Secret } from '../platform/secret.ts'
import type { HintTransport } from './create-event-hub.ts'

const channel = 'knoc:hints'

/** Hints over Redis pub/sub, on two connections of their own; while Redis is away hints are dropped. */
export function createRedisTransport(url: Secret): HintTransport {
  const options = { lazyConnect: false, enableOfflineQueue: false, maxRetriesPerRequest: 1 } as const
  const sender = new Redis(url.expose(), options)
  const receiver = new Redis(url.expose(), { ...options, enableOfflineQueue: true, autoResubscribe: true })
  // Reconnecting is ioredis's; a hint that fails is a hint lost.
  sender.on('error', () => undefined)
  receiver.on('error', () => undefined)

  return {
    send(sessionIds) {
      sender.publish(channel, sessionIds.join(' ')).catch(() => undefined)
    },
    listen(receive) {
      receiver.on('message', (_channel, text) => receive(text.split(' ')))
      receiver.subscribe(channel).catch(() => undefined)
    },
    async close() {
      sender.disconnect()
      receiver.disconnect()
    },
  }
}
