/** A list as a firewall's configuration has it. */
export type EdlSettings = {
  name: string
  /** Default vsys1. */
  vsys?: string
  /** Of the firewall it is on, where a Panorama is asked. */
  serial?: string
  /** Fetches it, as the firewall would: status and text; throws where nobody answers. See {@link edlFetch}. */
  fetch: () => Promise<{ status: number; text: string }>
  /** Its own interval; without it the list is fetched when it is told to only. */
  everyMs?: number
  /** Hears of each change of what is enforced, for a test that puts it into a kernel. The next job waits for it. */
  onEnforced?: (addresses: string[]) => unknown
}

/**
 * What PAN-OS does with a list: fetched whole, the last copy kept while the server can't be reached or answers
 * nonsense, and nothing enforced from a refused sign-in on until one succeeds.
 * https://docs.paloaltonetworks.com/pan-os/10-1/pan-os-admin/policy/use-an-external-dynamic-list-in-policy/external-dynamic-list
 *
 * @param inTurn the firewall's queue of jobs: one at a time.
 */
export function createFakeEdl(settings: EdlSettings, inTurn: (job: () => Promise<void>) => Promise<void>) {
  /** Statuses of all fetches so far; 0 where nobody answered. */
  const fetches: number[] = []
  let enforced: string[] = []

  const enforce = async (addresses: string[]) => {
    if (addresses.join() === enforced.join()) return
    enforced = addresses
    await settings.onEnforced?.(addresses)
  }

  const fetchNow = async () => {
    const { status, text } = await settings.fetch().catch(() => ({ status: 0, text: '' }))
    fetches.push(status)
    if (status === 200) await enforce(text.split('\n').filter((line) => line !== ''))
    else if (status === 401 || status === 403) await enforce([])
  }

  const timer =
    settings.everyMs === undefined
      ? undefined
      : setInterval(() => void inTurn(fetchNow), settings.everyMs).unref()

  return {
    settings: { vsys: 'vsys1', ...settings },
    fetches,
    /** Queues a fetch; resolves when it is done, which is long after the command was answered. */
    refresh: () => inTurn(fetchNow),
    /** What is enforced now, in the list's order. */
    enforced: (): readonly string[] => enforced,
    stop: () => clearInterval(timer),
  }
}

/**
 * A list's source over HTTP with its key, as an EDL with "client authentication" fetches it (Basic, any user name), or
 * with the key as Bearer. `via` is who fetches: a host of the test instead of this process.
 */
export const edlFetch =
  (
    url: string,
    key: string | { bearer: string },
    via: (url: string, init: { headers: Record<string, string> }) => Promise<Response> = fetch,
  ): EdlSettings['fetch'] =>
  async () => {
    const authorization =
      typeof key === 'string'
        ? `Basic ${Buffer.from(`firewall:${key}`).toString('base64')}`
        : `Bearer ${key.bearer}`
    const response = await via(url, { headers: { Authorization: authorization } })
    return { status: response.status, text: await response.text() }
  }
