import type { Context } from 'hono'
import type { Deps } from '../context.ts'
import { toUserRow } from './user.answer.ts'
import { listUsersById } from './user.query.ts'

/** Users read and sent at a time: a statement of some milliseconds, and a text that holds nobody up. */
const usersAtOnce = 2000

/**
 * The whole list of users as `{"data": […]}`, read and sent in parts. A list of 100,000 in one piece takes longer
 * than a statement may (decision 37), and writing its 50 MB down stops everything else. A fault in the middle breaks
 * the answer off, so that nobody takes the half for the whole.
 */
export function streamUsers(c: Context, lists: Deps['db']['lists'], ids: readonly string[]): Response {
  c.header('Content-Type', 'application/json')
  const parts = toParts(lists, ids)
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await parts.return()
    },
  })
  return c.body(body)
}

async function* toParts(
  lists: Deps['db']['lists'],
  ids: readonly string[],
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const encoder = new TextEncoder()
  yield encoder.encode('{"data":[')
  let isFirst = true
  for (let from = 0; from < ids.length; from += usersAtOnce) {
    const users = await listUsersById(lists, ids.slice(from, from + usersAtOnce))
    if (users.length === 0) continue
    const text = users.map((user) => JSON.stringify(toUserRow(user))).join(',')
    yield encoder.encode(isFirst ? text : `,${text}`)
    isFirst = false
  }
  yield encoder.encode(']}')
}
