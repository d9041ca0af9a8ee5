import { startBrowser } from '#tests/support/browser.ts'
import { buildWeb } from '#tests/support/browser-build.ts'
import { measureBundles } from './web-bundle.ts'
import { measureFrames } from './web-frames.ts'
import { measureLighthouse } from './web-lighthouse.ts'
import { openWebSite } from './web-site.ts'

/** What a part of the bench found: figures for the line, and what is beyond its budget, in words. */
export type WebFigures = { figures: Record<string, unknown>; faults: string[] }

/** A dashboard with everything on it: favourites, Top and categories need more than 20. */
const usualEntries = 25
/** What scrolling and searching have to stand. */
const manyEntries = 200

/**
 * What a user's browser has to carry: JavaScript until the first page stands and Lighthouse's scores with 25 entries,
 * and frames while 200 are scrolled and searched. On the built web, from the real server. Exit code 1 beyond a budget.
 *
 * @param n frames that are measured of each kind, at least.
 */
export async function runWebBench({ n }: { n: number }): Promise<number> {
  await buildWeb({ anew: true })
  const usual = await openWebSite({ entries: usualEntries })
  const crowded = await openWebSite({ entries: manyEntries })
  const browser = await startBrowser()
  try {
    const parts = [
      await measureBundles(browser, usual),
      await measureFrames(browser, crowded, n),
      await measureLighthouse(usual),
    ]
    const faults = parts.flatMap((part) => part.faults)
    for (const fault of faults) console.error(`beyond its budget: ${fault}`)
    console.log(
      JSON.stringify({ bench: 'web', ...Object.assign({}, ...parts.map(({ figures }) => figures)), faults }),
    )
    return faults.length === 0 ? 0 : 1
  } finally {
    await browser.close()
    await crowded.close()
    await usual.close()
  }
}
