import process from 'node:process'
import { createInterface } from 'node:readline'
import { edlFetch, type FakePanos, startFakePanos } from '#tests/support/fake-panos.ts'
import { run } from '../../deploy/demo/run.ts'
import { familyOf } from './doors/door-kind.ts'
import { edlName, type PanosCall } from './doors/panos-door.ts'

/** Runs on a host: a firewall whose list is what two of the host's sets hold. See doors/panos-door.ts. */
let panos: FakePanos | undefined
let urls: string[] = []
let key = ''
const standing = new Set<string>()

const patienceMs = 3_000

for await (const line of createInterface({ input: process.stdin })) {
  const { id, call } = JSON.parse(line) as { id: number; call: PanosCall }
  process.stdout.write(`${JSON.stringify({ id, value: await answer(call) })}\n`)
}
process.exit(0)

async function answer(call: PanosCall): Promise<unknown> {
  if (call.act === 'start') return start(call)
  if (call.act === 'fetchFrom') {
    ;({ urls, key } = call)
    return null
  }
  await panos?.[call.act]()
  return null
}

async function start({ set4, set6, everyMs }: Extract<PanosCall, { act: 'start' }>): Promise<string> {
  const setOf = (address: string): string => (familyOf(address) === 4 ? set4 : set6)
  const onEnforced = async (addresses: string[]) => {
    const wanted = new Set(addresses)
    for (const address of standing)
      if (!wanted.has(address)) await run('ipset', ['del', setOf(address), address])
    for (const address of wanted)
      if (!standing.has(address)) await run('ipset', ['add', setOf(address), address, '-exist'])
    standing.clear()
    for (const address of wanted) standing.add(address)
  }
  panos = await startFakePanos({ lists: [{ name: edlName, fetch: fetchList, everyMs, onEnforced }] })
  return panos.hostname
}

/** From the first replica that has it, as through a balancer: what fails at one is asked of the other. */
async function fetchList(): Promise<{ status: number; text: string }> {
  let last = { status: 0, text: '' }
  for (const url of urls) {
    const read = edlFetch(url, key, (to, init) =>
      fetch(to, { ...init, signal: AbortSignal.timeout(patienceMs) }),
    )
    last = await read().catch(() => ({ status: 0, text: '' }))
    if (last.status > 0 && last.status < 500) return last
  }
  return last
}
