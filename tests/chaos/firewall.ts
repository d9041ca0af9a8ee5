import { setTimeout as wait } from 'node:timers/promises'
import type { TestHost } from '#tests/support/host.ts'
import { familyOf } from './doors/door-kind.ts'
import type { PathEvent } from './path.ts'

/** How often it asks, and how long an answer may take until it counts as none. */
const pollMs = 1_000
const patienceMs = 700

/**
 * Fetches a passive list every second, with If-None-Match, and makes a set of its own hold what the list says. On any
 * failure it keeps what it has, as firewalls do: then nothing but the next reading ends a door.
 */
export function startFirewall(deps: {
  host: TestHost
  /** Its sets, one for each family. */
  sets: { set4: string; set6: string }
  /** The list's path and key, and the replica that is asked this time. */
  path: string
  key: string
  origin: () => string
  tell: (event: PathEvent) => void
}) {
  const { host, sets } = deps
  const agent = 'firewall'
  const standing = new Set<string>()
  let etag = ''
  let isOver = false
  let reads = 0

  async function read(): Promise<boolean> {
    const response = await host.hands.fetch(`${deps.origin()}${deps.path}`, {
      headers: {
        Authorization: `Bearer ${deps.key}`,
        ...(etag !== '' && { 'If-None-Match': etag }),
      },
    })
    if (response.status === 304) return true
    if (response.status !== 200) return false
    const wanted = new Set((await response.text()).split('\n').filter(Boolean))
    for (const address of standing) if (!wanted.has(address)) await change('del', address)
    for (const address of wanted) if (!standing.has(address)) await change('add', address)
    etag = response.headers.get('etag') ?? ''
    return true
  }

  async function change(act: 'add' | 'del', address: string): Promise<void> {
    const set = familyOf(address) === 4 ? sets.set4 : sets.set6
    await host.exec('ipset', act, set, address, '-exist')
    if (act === 'add') standing.add(address)
    else standing.delete(address)
  }

  const reading = (async () => {
    deps.tell({ type: 'agent.up', agent })
    while (!isOver) {
      const late = setTimeout(() => deps.tell({ type: 'agent.unlinked', agent }), patienceMs)
      const isRead = await read().catch(() => false)
      clearTimeout(late)
      deps.tell({ type: isRead ? 'agent.linked' : 'agent.unlinked', agent })
      if (isRead) reads += 1
      await wait(pollMs)
    }
  })()

  return {
    reads: () => reads,
    stop: async () => {
      isOver = true
      await reading
    },
  }
}
