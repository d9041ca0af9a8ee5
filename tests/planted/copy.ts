import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type Fault, type Finder, plant, type TestReport } from './fault.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the checkout as it is now, in which faults are planted and tests run. */
export type Copy = ReturnType<typeof copyTree>

/** Copies every file that git knows or would take; packages are a link. `remove` it when done. */
export function copyTree() {
  const folder = mkdtempSync(join(tmpdir(), 'knoc-planted-'))
  const names = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 16_777_216,
  })
  for (const name of names.split('\0'))
    if (name !== '' && existsSync(join(root, name))) cpSync(join(root, name), join(folder, name))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

  /** Puts the fault in; the function takes it out again. @throws Error when its text is not there exactly once. */
  function sow(fault: Fault): () => void {
    const path = join(folder, fault.file)
    const whole = readFileSync(path, 'utf8')
    writeFileSync(path, plant(fault, whole))
    return () => writeFileSync(path, whole)
  }

  return {
    sow,
    run: (finder: Pick<Finder, 'test' | 'title'>) => runTests(folder, finder),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function runTests(
  folder: string,
  { test, title }: Pick<Finder, 'test' | 'title'>,
): Promise<TestReport> {
  const out = join(folder, 'planted-report.json')
  rmSync(out, { force: true })
  const vitest = ['npm:vitest', 'run', '--config', 'tests/vitest.config.ts', test, '-t', title]
  const report = ['--reporter=json', `--outputFile=${out}`, '--retry=0']
  const output = await runToEnd(folder, ['run', '-A', ...vitest, ...report])
  if (!existsSync(out))
    return { broken: `vitest gave no report: ${output.slice(-1_500)}`, passed: [], failed: [] }
  return toReport(JSON.parse(readFileSync(out, 'utf8')) as JsonReport)
}

function runToEnd(cwd: string, args: string[]): Promise<string> {
  // Without the settings of a test run that this one is part of.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  return new Promise((resolve) => child.on('close', () => resolve(output)))
}

type JsonReport = {
  testResults: {
    message: string
    status: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

function toReport({ testResults }: JsonReport): TestReport {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => ({ title: fullName, message: failureMessages.join('\n') }))
  const broken = testResults.find(({ status }) => status === 'failed' && failed.length === 0)
  return {
    broken: broken === undefined ? null : broken.message || 'its preparation failed',
    passed: tests.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName),
    failed,
  }
}
