import { randomInt } from 'node:crypto'
import { argv, exit } from 'node:process'
import { parseArgs } from 'node:util'
import { installMissingPrograms } from '#tests/support/debian.ts'
import { hasKernel } from '#tests/support/host.ts'
import { runStorm, type StormReport } from './storm.ts'

const help = `npm run chaos -- [--minutes N | --seconds N] [--seed S] [--queue redis|postgres]

Attacks a whole installation in network namespaces of its own while people come and go, and judges from outside
whether every door is open exactly while somebody may go through it. Needs root on Linux.

  --minutes N   how long it is attacked (default 5)
  --seconds N   the same, for a short one
  --seed S      draws the same attacks again, as far as real processes can repeat themselves
  --queue       where the jobs are (default redis)

Prints one line of JSON last. Exit codes: 0 all well, 1 a breach or another fault, 2 asked for wrongly.
`

const options = {
  minutes: { type: 'string' },
  seconds: { type: 'string' },
  seed: { type: 'string' },
  queue: { type: 'string', default: 'redis' },
  help: { type: 'boolean', short: 'h', default: false },
} as const

exit(await main(argv.slice(2)))

async function main(args: readonly string[]): Promise<number> {
  const asked = read(args)
  if (typeof asked === 'string') {
    console.error(`${asked}\nTry: npm run chaos -- --help`)
    return 2
  }
  if (asked === null) {
    console.log(help)
    return 0
  }
  installMissingPrograms()
  if (!hasKernel()) return 2
  const report = await runStorm({ ...asked, say: (line) => console.error(line) })
  tell(report)
  return report.faults.length + report.breaches.length === 0 ? 0 : 1
}

function read(args: readonly string[]) {
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true })
    if (values.help) return null
    const seconds = values.seconds === undefined ? Number(values.minutes ?? 5) * 60 : Number(values.seconds)
    const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
    if (!(seconds > 0)) return '--minutes and --seconds take a number above 0.'
    if (!Number.isInteger(seed)) return '--seed takes a whole number.'
    const { queue } = values
    if (queue !== 'redis' && queue !== 'postgres') return '--queue is redis or postgres.'
    return { seconds, seed, queue } as const
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function tell({ breaches, faults, crashes, slow, ...numbers }: StormReport): void {
  for (const words of slow) console.log(`SLOW ${words}`)
  for (const { timeline, ...breach } of breaches)
    console.log([`BREACH ${JSON.stringify(breach)}`, ...timeline].join('\n  '))
  for (const words of crashes) console.log(`CRASH\n${words}`)
  for (const fault of faults) console.log(`FAULT ${fault}`)
  console.log(JSON.stringify({ ...numbers, breaches: breaches.length, faults: faults.length }))
}
