import { parseArgs } from 'node:util'
import { runGrantBench } from './grant.ts'
import { runLoginBench } from './login.ts'
import { runWebBench } from './web.ts'

/** Every bench of `npm run bench <name>`; each prints JSON lines. */
const benches: Record<string, { summary: string; run: (options: { n: number }) => Promise<number> }> = {
  grant: {
    summary: 'click → visible in the kernel, and click → closed, beside the floor of the same run',
    run: runGrantBench,
  },
  login: {
    summary: 'sign-ins per second per core, beside a bare argon2id at the same cost; fails under 80 %',
    run: runLoginBench,
  },
  web: {
    summary: 'JavaScript at first paint, frames with 200 entries, Lighthouse; fails beyond a budget',
    run: runWebBench,
  },
}

const help = `npm run bench <name> [-- --n N]

${Object.entries(benches)
  .map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`)
  .join('\n')}

  --n N    samples of each kind (default 200)
  --help   this text

Each line of the output is JSON: what was measured, n, p50, p95, p99 in milliseconds.
`

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { n: { type: 'string', default: '200' }, help: { type: 'boolean', short: 'h', default: false } },
    allowPositionals: true,
  })
  const [name = ''] = positionals
  const n = Number(values.n)
  if (values.help) return say(help, 0)
  if (!Object.hasOwn(benches, name) || !Number.isInteger(n) || n < 1) return say(help, 2)
  return (await benches[name]?.run({ n })) ?? 2
}

function say(text: string, code: number): number {
  console.log(text)
  return code
}

process.exit(await main())
