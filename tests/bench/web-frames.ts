import type { Page } from 'playwright-core'
import { entry, signIn } from '#tests/browser/acts.ts'
import type { TestBrowser } from '#tests/support/browser.ts'
import { percentiles } from './percentiles.ts'
import type { WebFigures } from './web.ts'
import type { WebSite } from './web-site.ts'

/** A frame that took longer than so many of the floor's is a dropped one. */
const droppedAbove = 2
/** Share of frames that may be dropped beyond the floor's own. */
const mostDropped = 0.02

/** Scrolls and searches 200 entries, beside the same on an empty page in the same browser: the floor. */
export async function measureFrames(
  browser: TestBrowser,
  { url, login }: WebSite,
  n: number,
): Promise<WebFigures> {
  const { page, leave } = await browser.visit(url, { viewport: { width: 1280, height: 900 } })
  await page.goto(`${url}/colour-mode.js`)
  const floorScroll = await framesOf(page, () => scroll(page, n))
  const floorType = await framesOf(page, () => type(page))
  await signIn(page, login)
  await entry(page, 'Finance host 0').first().waitFor()
  await page.waitForLoadState('networkidle')
  const frame = percentiles(floorScroll).p50
  const scrolled = await workOf(page, () => framesOf(page, () => scroll(page, n)))
  const search = page.getByLabel('Search your entries').first()
  await page.evaluate(() => window.scrollTo(0, 0))
  await search.click()
  const typed = await workOf(page, () => framesOf(page, () => type(page)))
  await leave()

  const kinds = {
    scroll: { ...figuresOf(scrolled.frames, floorScroll, frame), workMs: scrolled.workMs },
    search: { ...figuresOf(typed.frames, floorType, frame), workMs: typed.workMs },
  }
  return {
    figures: { frames: { entries: 200, floorP50: frame, ...kinds } },
    faults: Object.entries(kinds)
      .filter(([, { dropped, floorDropped }]) => dropped - floorDropped > mostDropped)
      .map(
        ([kind, { dropped, floorDropped }]) =>
          `${kind}: ${dropped} of frames dropped, the floor ${floorDropped}`,
      ),
  }
}

/** What the page's own thread did, in milliseconds a frame: it doesn't grow with what else the machine does, as frames do. */
async function workOf(
  page: Page,
  act: () => Promise<number[]>,
): Promise<{ frames: number[]; workMs: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    const ours = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration']
    return metrics.reduce((sum, { name, value }) => sum + (ours.includes(name) ? value : 0), 0)
  }
  const before = await read()
  const frames = await act()
  const seconds = (await read()) - before
  await session.detach()
  return { frames, workMs: Math.round((seconds * 100_000) / frames.length) / 100 }
}

/** Milliseconds between the frames that the page drew while something happened. */
async function framesOf(page: Page, act: () => Promise<void>): Promise<number[]> {
  await page.evaluate(() => {
    const frames: number[] = []
    let last = performance.now()
    const look = (now: number) => {
      frames.push(now - last)
      last = now
      Object.assign(globalThis, { frameLoop: requestAnimationFrame(look), frames })
    }
    requestAnimationFrame(look)
  })
  await act()
  const frames = await page.evaluate(() => {
    const { frameLoop, frames } = globalThis as unknown as { frameLoop: number; frames: number[] }
    cancelAnimationFrame(frameLoop)
    return frames
  })
  // The first is the way to the loop.
  return frames.slice(1)
}

/** With the wheel, until so many frames must have been drawn. */
async function scroll(page: Page, n: number): Promise<void> {
  await page.mouse.move(800, 500)
  for (let step = 0; step < n / 4; step += 1) {
    await page.mouse.wheel(0, step < n / 8 ? 120 : -120)
    await page.waitForTimeout(64)
  }
}

async function type(page: Page): Promise<void> {
  for (const text of ['laboratory host 1', 'fin', 'nothing like it']) {
    await page.keyboard.type(text, { delay: 80 })
    for (const _ of text) {
      await page.keyboard.press('Backspace')
      await page.waitForTimeout(40)
    }
  }
}

function figuresOf(frames: readonly number[], floor: readonly number[], frame: number) {
  const share = (of: readonly number[]) =>
    Math.round((of.filter((ms) => ms > droppedAbove * frame).length / of.length) * 1000) / 1000
  const { n, p50, p95, p99 } = percentiles(frames)
  return {
    n,
    p50,
    p95,
    p99,
    ratioP95: Math.round((p95 / percentiles(floor).p95) * 100) / 100,
    dropped: share(frames),
    floorDropped: share(floor),
  }
}
