import { startBrowser } from '#tests/support/browser.ts'
import { buildWeb } from '#tests/support/browser-build.ts'
import { measureBundles } from './web-bundle.ts'
import { measureFrames } from './web-frames.ts'
import { measureLighthouse } from './web-lighthouse.ts'
import { openWebSite } from './web-site.ts'

/** What a part of the bench found: figures for the line, and what is beyond its budget, in words. */
export type WebFigures = { figures: Record<string, unknown>; faults: string[] }

/**
 * What a user's browser has to carry: JavaScript until the first page stands, Lighthouse's scores, and frames while 200
 * entries are scrolled and searched. On the built web, from the real server. Exit code 1 beyond a budget.
 *
 * @param n frames that are measured of each kind, at least.
 */
export async function runWebBench({ n }: { n: number }): Promise<number> {
  await buildWeb({ anew: true })
  const site = await openWebSite({ entries: 200 })
  const browser = await startBrowser()
  try {
    const parts = [
      await measureBundles(browser, site),
      await measureFrames(browser, site, n),
      await measureLighthouse(site),
    ]
    const faults = parts.flatMap((part) => part.faults)
    for (const fault of faults) console.error(`beyond its budget: ${fault}`)
    console.log(
      JSON.stringify({ bench: 'web', ...Object.assign({}, ...parts.map(({ figures }) => figures)), faults }),
    )
    return faults.length === 0 ? 0 : 1
  } finally {
    await browser.close()
    await site.close()
  }
}
