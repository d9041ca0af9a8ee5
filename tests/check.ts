import { spawn } from 'node:child_process'
import process from 'node:process'

/**
 * `npm run check`: everything that can be said of the code without running it, in parallel, each step's output shown
 * only when it fails. Exit code 1 if any step failed.
 */
const steps: { name: string; args: string[] }[] = [
  { name: 'format', args: ['npm:@biomejs/biome', 'check', '--linter-enabled=false', '.'] },
  // One pass over one program: the linter's type information also gives the compiler's own diagnostics.
  { name: 'types and lint', args: ['npm:oxlint', '--type-aware', '--type-check'] },
  { name: 'dead code', args: ['npm:knip', '--no-progress'] },
  { name: 'layer rules', args: ['tests/layers.ts'] },
]

const results = await Promise.all(steps.map(runStep))
for (const { name, code, output, seconds } of results) {
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
  if (code !== 0) console.log(output)
}
process.exit(results.every(({ code }) => code === 0) ? 0 : 1)

async function runStep({ name, args }: { name: string; args: string[] }) {
  const started = performance.now()
  const child = spawn(process.execPath, ['run', '--quiet', '-A', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 1)))
  return { name, code, output, seconds: Math.round((performance.now() - started) / 100) / 10 }
}
