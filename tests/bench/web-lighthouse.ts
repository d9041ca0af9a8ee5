import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { signIn } from '#tests/browser/acts.ts'
import { browserSwitches } from '#tests/support/browser.ts'
import { findProgram } from '#tests/support/debian.ts'
import { freePort } from '#tests/support/redis.ts'
import { percentiles } from './percentiles.ts'
import type { WebFigures } from './web.ts'
import type { WebSite } from './web-site.ts'

const least = 95
const runs = 3
const categories = ['performance', 'accessibility', 'best-practices'] as const
const pages = { login: '/', home: '/home/new' } as const
/** Lighthouse's own: `mobile` is a slow telephone on slow 4G, by simulation. */
const presets = { desktop: ['--preset=desktop'], mobile: [] } as const

type Report = {
  categories: Record<(typeof categories)[number], { score: number | null }>
  audits: Record<
    string,
    { score: number | null; numericValue?: number; title: string; scoreDisplayMode: string }
  >
}

/** Lighthouse's scores of the login and of the dashboard, signed in; the median of three runs of each. */
export async function measureLighthouse(site: WebSite): Promise<WebFigures> {
  const figures: Record<string, Record<string, number>> = {}
  const faults: string[] = []
  for (const [page, path] of Object.entries(pages))
    for (const [preset, flags] of Object.entries(presets)) {
      const reports: Report[] = []
      for (let run = 0; run < runs; run += 1)
        reports.push(await report(site, { path, flags, isSignedIn: page === 'home' }))
      const name = `${page} ${preset}`
      figures[name] = toFigures(reports)
      for (const category of categories)
        if ((figures[name][category] ?? 0) < least)
          faults.push(`Lighthouse, ${name}: ${category} ${figures[name][category]}, ${failed(reports)}`)
    }
  return { figures: { lighthouse: { least, runs, ...figures } }, faults }
}

/** One run, in a browser of its own: nothing is cached, and only who is to be signed in is. */
async function report(
  { url, login }: WebSite,
  { path, flags, isSignedIn }: { path: string; flags: readonly string[]; isSignedIn: boolean },
): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'knoc-lighthouse-'))
  const port = await freePort()
  const executablePath = findProgram('chromium')
  if (executablePath === undefined) throw new Error('chromium is not installed')
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath,
    headless: true,
    args: [...browserSwitches, `--remote-debugging-port=${port}`],
    baseURL: url,
    locale: 'en-AU',
  })
  try {
    if (isSignedIn) {
      const page = await context.newPage()
      await signIn(page, login)
      await page.close()
    }
    const output = join(folder, 'report.json')
    // A process of its own: it is a program of Node, and what it leaves behind goes with it.
    await promisify(execFile)('node', [
      fileURLToPath(import.meta.resolve('lighthouse/cli/index.js')),
      `${url}${path}`,
      `--port=${port}`,
      `--only-categories=${categories.join(',')}`,
      '--output=json',
      `--output-path=${output}`,
      '--quiet',
      // The dashboard's stream of events never ends: its page is never without a request.
      '--max-wait-for-load=20000',
      ...flags,
    ])
    return JSON.parse(await readFile(output, 'utf8')) as Report
  } finally {
    await context.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function toFigures(reports: readonly Report[]): Record<string, number> {
  const median = (read: (report: Report) => number) => percentiles(reports.map(read)).p50
  const audit = (name: string) => median(({ audits }) => Math.round(audits[name]?.numericValue ?? Number.NaN))
  return {
    ...Object.fromEntries(
      categories.map((name) => [
        name,
        median((report) => Math.round((report.categories[name].score ?? 0) * 100)),
      ]),
    ),
    firstPaintMs: audit('first-contentful-paint'),
    largestPaintMs: audit('largest-contentful-paint'),
    blockedMs: audit('total-blocking-time'),
  }
}

/** What took points, worst first. */
const failed = ([first]: readonly Report[]): string =>
  Object.entries(first?.audits ?? {})
    .filter(
      ([, { score, scoreDisplayMode }]) =>
        score !== null && score < 0.9 && scoreDisplayMode !== 'informative',
    )
    .toSorted(([, one], [, other]) => (one.score ?? 0) - (other.score ?? 0))
    .slice(0, 8)
    .map(([name, { score }]) => `${name} ${score}`)
    .join(', ')
