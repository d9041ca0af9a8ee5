import process from 'node:process'
import { createInterface } from 'node:readline'
import { edlFetch, startFakePanos } from './fake-panos.ts'
import type { FirewallCall } from './firewall.ts'

/** Runs a fake PAN-OS where its test puts it, one JSON line a call. See firewall.ts. */
const edl = 'jit'
let source: { url: string; key: string } | undefined

const panos = await startFakePanos({
  lists: [
    {
      name: edl,
      fetch: async () => {
        if (source === undefined) throw new Error('it was not told where its list is')
        return edlFetch(source.url, source.key)()
      },
    },
  ],
})

const acts: { [Act in FirewallCall['act']]: (call: Extract<FirewallCall, { act: Act }>) => unknown } = {
  place: () => ({ hostname: panos.hostname, edl }),
  aim: (call) => {
    source = call.source
  },
  look: () => ({
    enforced: panos.list(edl).enforced(),
    fetches: panos.list(edl).fetches,
    calls: panos.calls.length,
  }),
  fetchNow: () => panos.list(edl).refresh(),
}

for await (const line of createInterface({ input: process.stdin })) void answer(line)
process.exit(0)

async function answer(line: string): Promise<void> {
  const { id, call } = JSON.parse(line) as { id: number; call: FirewallCall }
  const act = acts[call.act] as (call: FirewallCall) => unknown
  const reply = await Promise.resolve(call)
    .then(act)
    .then(
      (value) => ({ id, value }),
      (error: unknown) => ({ id, error: error instanceof Error ? error.message : String(error) }),
    )
  process.stdout.write(`${JSON.stringify(reply)}\n`)
}
