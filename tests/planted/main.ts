import process from 'node:process'
import { parseArgs } from 'node:util'
import { copyTree } from './copy.ts'
import { type Fault, judge } from './fault.ts'
import { faults } from './faults.ts'

const help = `npm run planted -- [--only NAME]… [--list]

Plants one fault after the other in a copy of this checkout, and runs the tests that have to notice it. They must
pass without a fault, and fail with it, for the reason the table names. Takes a while: some start whole sites.

  --only NAME   this fault alone; may be given often, and NAME may be the beginning of several
  --list        the faults, and what finds them
  --help        this text

Exit code 0 when every fault was found, 1 when one was not, 2 for an option that is none.`

const options = readOptions()
if (options.help === true) console.log(help)
else if (options.list === true) for (const fault of faults) list(fault)
else process.exitCode = await plantAll(options.only ?? [])

function readOptions() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', multiple: true },
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`)
    return process.exit(2)
  }
}

function list({ name, what, file, finders }: Fault): void {
  console.log(`${name.padEnd(28)} ${what} (${file})`)
  for (const { test, title } of finders) console.log(`${' '.repeat(28)} → ${test} "${title}"`)
}

async function plantAll(only: readonly string[]): Promise<0 | 1 | 2> {
  const chosen = faults.filter(({ name }) => only.length === 0 || only.some((one) => name.startsWith(one)))
  if (chosen.length === 0) {
    console.error(`No fault is called ${only.join(' or ')}; --list names them.`)
    return 2
  }
  const started = performance.now()
  const copy = copyTree()
  let found = 0
  try {
    const sound = new Map<string, string | null>()
    for (const fault of chosen) if (await isFound(fault, copy, sound)) found += 1
  } finally {
    copy.remove()
  }
  console.log(`${found} of ${chosen.length} planted faults found (${secondsSince(started)} s)`)
  return found === chosen.length ? 0 : 1
}

/** Every finder of the fault has to find it. */
async function isFound(
  fault: Fault,
  copy: ReturnType<typeof copyTree>,
  sound: Map<string, string | null>,
): Promise<boolean> {
  let isGood = true
  for (const finder of fault.finders) {
    const key = `${finder.test} ${finder.title}`
    if (!sound.has(key)) sound.set(key, whyUnsound(await copy.run(finder)))
    const unsound = sound.get(key)
    const started = performance.now()
    let missed: string | null = `fails without any fault: ${unsound}`
    if (unsound === null) {
      const takeOut = copy.sow(fault)
      missed = judge(await copy.run(finder), finder.because)
      takeOut()
    }
    isGood &&= missed === null
    const mark = missed === null ? 'found  ' : 'MISSED '
    console.log(
      `${mark} ${fault.name.padEnd(28)} ${finder.test} "${finder.title}" (${secondsSince(started)} s)`,
    )
    if (missed !== null) console.log(`        ${missed}`)
  }
  return isGood
}

/** Why a finder can't be used: without any fault it must run, and pass. */
function whyUnsound({ broken, passed, failed }: Awaited<ReturnType<ReturnType<typeof copyTree>['run']>>) {
  if (broken !== null) return broken.slice(0, 300)
  if (failed[0] !== undefined) return `${failed[0].title}: ${failed[0].message.slice(0, 300)}`
  return passed.length === 0 ? 'no test has this title, or all were skipped' : null
}

function secondsSince(started: number): number {
  return Math.round((performance.now() - started) / 100) / 10
}
