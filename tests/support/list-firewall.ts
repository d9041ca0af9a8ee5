import type { TestHost } from './host.ts'

/** How a firewall fetches a list, and which of its sets keeps it. */
export type FirewallPlan = {
  url: string
  key: string
  set: string
  everyMs: number
  /** It reads the JSON form and gives each entry its end: the kernel closes by itself. */
  usesEnds: boolean
}

type Entry = { address: string; seconds: number }

/**
 * A small firewall: fetches a passive list over and over and makes a set of the kernel be that list, in one step. What is
 * not an answer (an error, nobody there) changes nothing, as devices do.
 */
export function startListFirewall(host: TestHost, plan: FirewallPlan) {
  const answers: number[] = []
  let etag: string | null = null
  let isStopped = false

  async function poll(): Promise<void> {
    const { status, headers, entries } = await fetchList(host, plan, etag)
    answers.push(status)
    if (status !== 200) return
    etag = headers.get('ETag')
    await apply(host, plan.set, entries)
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      await poll().catch(() => answers.push(0))
      await new Promise((resolve) => setTimeout(resolve, plan.everyMs))
    }
  }
  const running = run()

  return {
    /** Statuses so far; 0 stands for nobody there. */
    answers,
    stop: async () => {
      isStopped = true
      await running
    },
  }
}

async function fetchList(host: TestHost, { url, key, usesEnds }: FirewallPlan, etag: string | null) {
  const response = await host.hands.fetch(usesEnds ? url.replace(/\.txt$/, '.json') : url, {
    headers: {
      Authorization: `Basic ${Buffer.from(`firewall:${key}`).toString('base64')}`,
      ...(etag !== null && { 'If-None-Match': etag }),
    },
  })
  const { status, headers } = response
  if (status !== 200) return { status, headers, entries: [] }
  const text = await response.text()
  return { status, headers, entries: usesEnds ? readEnds(text, headers) : readLines(text) }
}

const readLines = (text: string): Entry[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((address) => ({ address, seconds: 0 }))

/** The server says what time it is, so that a firewall with a wrong clock closes in time as well. */
function readEnds(text: string, headers: Headers): Entry[] {
  const now = Date.parse(headers.get('X-Knoc-Now') ?? '')
  const { Entries } = JSON.parse(text) as { Entries: { Address: string; Until: string }[] }
  return Entries.map(({ Address, Until }) => ({
    address: Address,
    seconds: Math.max(1, Math.ceil((Date.parse(Until) - now) / 1_000)),
  }))
}

async function apply(host: TestHost, set: string, entries: readonly Entry[]): Promise<void> {
  const next = `${set}-next`
  await host.makeSet(next, 4)
  for (const { address, seconds } of entries)
    await host.exec('ipset', 'add', next, address, 'timeout', String(seconds))
  await host.exec('ipset', 'swap', next, set)
  await host.exec('ipset', 'destroy', next)
}
