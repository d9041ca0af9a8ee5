import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { isAnswer, lengthOfMessage } from './ldap-message.ts'

/** A user's entry or a group's name is far below; what is longer is no answer to what we ask. */
const longestMessage = 256 * 1024

/** A thousand groups with long names are about a quarter of it. */
const mostBytes = 2 * 1024 * 1024

/** The guarded connection, and how to leave its socket to somebody else (StartTLS). */
export type GuardedSocket = { guarded: Duplex; release: () => void }

/**
 * A connection as ldapts gets it: whole and well-formed answers only, one at a time, and no more of them than we
 * could have asked for. Anything else ends it. Without this a few kilobytes of a faulty server would stop the
 * process: ldapts calls itself once for each message of a packet, and may read one for ever.
 *
 * It says `connect` or `secureConnect` when the socket does, and ends with it.
 *
 * @param tell hears why it ended, once, also when we ended it. It never emits `error`: ldapts takes off whoever
 * listens to that.
 */
export function guardSocket(
  socket: Socket,
  ready: 'connect' | 'secureConnect',
  tell: (reason: Error) => void,
): GuardedSocket {
  let pending = Buffer.alloc(0)
  let received = 0
  const guarded = new Duplex({
    readableObjectMode: true,
    read: () => undefined,
    write: (chunk, _, done) => void socket.write(chunk as Buffer, done),
    final: (done) => void socket.end(done),
    destroy(_, done) {
      tell(new Error('the connection was closed'))
      socket.destroy()
      done(null)
    },
  })

  function take(chunk: Buffer): void {
    received += chunk.length
    pending = Buffer.concat([pending, chunk])
    if (received > mostBytes) return fail('the server said too much')
    for (;;) {
      const length = lengthOfMessage(pending)
      if (length === 0 || (length ?? 0) > longestMessage) return fail('the server did not answer in LDAP')
      if (length === undefined || length > pending.length) return
      const message = pending.subarray(0, length)
      if (!isAnswer(message)) return fail('the server gave a malformed answer')
      pending = pending.subarray(length)
      guarded.push(message)
    }
  }

  function fail(reason: string | Error): void {
    tell(reason instanceof Error ? reason : new Error(reason))
    guarded.destroy()
  }

  socket.once(ready, () => guarded.emit(ready))
  socket.on('data', take)
  socket.on('error', fail)
  socket.once('close', () => guarded.destroy())
  return { guarded, release: () => void socket.off('data', take) }
}
