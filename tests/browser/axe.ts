import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { accents } from '#server/status/status.schema.ts'

/** One of the twenty, as it stands on the root element. */
type Theme = { accent: string; contrast: 'normal' | 'high'; mode: 'light' | 'dark' }

/** Five accents × contrast × mode; the fall-back, grape in normal contrast and light, comes first. */
const themes: readonly Theme[] = accents
  .toSorted((one, other) => Number(other === 'grape') - Number(one === 'grape'))
  .flatMap((accent) =>
    (['normal', 'high'] as const).flatMap((contrast) =>
      (['light', 'dark'] as const).map((mode) => ({ accent, contrast, mode })),
    ),
  )

/** In which hovered and focused controls are looked at: web/theme/theme.test.ts holds their colours in all twenty. */
const pointedThemes = themes.filter(({ accent }) => accent === 'grape')

/** WCAG 2.2 AA, with everything that it takes over from before. */
const standard = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
/** What a theme can change. High contrast is larger as well, so sizes are looked at once more there. */
const colourRules = ['color-contrast', 'link-in-text-block']
const sizeRules = ['target-size']

/** Breaches of the standard, and advice beyond it: each names rule, element, themes and what is wrong. */
export type Findings = { breaches: string[]; advice: string[] }

type Finding = { theme: string; rule: string; selector: string; what: string; isAdvice: boolean }

/**
 * Looks for breaches of WCAG 2.2 AA on the page as it stands: every rule in one theme, and what depends on colours in
 * all twenty. With `pointed` buttons, links and fields are looked at once more as if all were hovered and focused.
 *
 * The page's context needs `reducedMotion: 'reduce'`, as visitors have it: otherwise a colour is met on its way.
 */
export async function findBreaches(
  page: Page,
  { pointed = false }: { pointed?: boolean } = {},
): Promise<Findings> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(lookInThemes, { themes, standard, colourRules, sizeRules })
  if (pointed) {
    const release = await pointAtEverything(page)
    const again = await page.evaluate(lookInThemes, {
      themes: pointedThemes,
      standard: [],
      colourRules,
      sizeRules: [],
    })
    found.push(...again.map((finding) => ({ ...finding, what: `hovered and focused: ${finding.what}` })))
    await release()
  }
  return {
    breaches: inWords(found.filter(({ isAdvice }) => !isAdvice)),
    advice: inWords(found.filter(({ isAdvice }) => isAdvice)),
  }
}

/** One line for each rule and element, with the themes in which it was found. */
function inWords(found: readonly Finding[]): string[] {
  const byPlace = Map.groupBy(found, ({ rule, selector }) => `${rule} at ${selector}`)
  return [...byPlace].map(([place, findings]) => {
    const names = [...new Set(findings.map(({ theme }) => theme))]
    const shown = names.length === themes.length ? 'in every theme' : `in ${names.join(', ')}`
    return `${place} ${shown}: ${findings[0]?.what}`
  })
}

/** Puts every control into the states of a pointer above it and of the focus, without an event. */
async function pointAtEverything(page: Page): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page)
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument', { depth: 0 })
  const selector = 'button, a[href], input, select, textarea, summary, tr, [role="option"], [role="menuitem"]'
  const { nodeIds } = await session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector })
  for (const nodeId of nodeIds)
    await session
      .send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: ['hover', 'focus', 'focus-visible'] })
      .catch((error: unknown) => {
        // A look at the server has drawn it anew meanwhile; the others of its kind stand.
        if (!String(error).includes('Could not find node')) throw error
      })
  // Whoever listens no more takes the states with it.
  return () => session.detach()
}

/** Runs in the page. Wears one theme after the other and asks axe; the page's own theme comes back. */
async function lookInThemes({
  themes,
  standard,
  colourRules,
  sizeRules,
}: {
  themes: readonly Theme[]
  /** Tags of the rules that are asked in the first theme; none: only the colours. */
  standard: readonly string[]
  colourRules: readonly string[]
  sizeRules: readonly string[]
}): Promise<Finding[]> {
  const tester = (globalThis as unknown as { axe: typeof axe }).axe
  const { dataset } = document.documentElement
  const { accent: ownAccent, contrast: ownContrast, mode: ownMode } = dataset
  const found: Finding[] = []
  const representatives = findRepresentatives()

  async function ask(theme: Theme, isWhole: boolean): Promise<void> {
    const values = isWhole
      ? { type: 'tag' as const, values: [...standard, 'best-practice'] }
      : {
          type: 'rule' as const,
          values: [...colourRules, ...(theme.accent === 'grape' ? sizeRules : [])],
        }
    const { violations } = await tester.run(isWhole ? document : { include: representatives }, {
      runOnly: values,
      resultTypes: ['violations'],
    })
    const name = `${theme.accent} ${theme.contrast} ${theme.mode}`
    for (const { id, tags, help, nodes } of violations)
      for (const { target, failureSummary } of nodes)
        found.push({
          theme: name,
          rule: id,
          selector: target.flat().join(' '),
          what: `${help}. ${(failureSummary ?? '').replaceAll(/\s+/g, ' ')}`,
          isAdvice: !tags.some((tag) => tag.startsWith('wcag')),
        })
    for (const input of document.querySelectorAll<HTMLInputElement>('[placeholder]')) {
      const ratio = ratioOf(getComputedStyle(input, '::placeholder').color, backgroundOf(input))
      if (input.placeholder !== '' && ratio < 4.5)
        found.push({
          theme: name,
          rule: 'placeholder',
          selector: input.outerHTML.slice(0, 120),
          what: `a ratio of ${ratio}`,
          isAdvice: false,
        })
    }
  }

  /**
   * One element of each look: what has the same names and classes, from itself up to the root, has the same colours in
   * every theme. Only what has text of its own.
   */
  function findRepresentatives(): HTMLElement[] {
    const looks = new Map<Element | null, string>([[null, '']])
    const lookOf = (element: Element | null): string => {
      const known = looks.get(element)
      if (known !== undefined || element === null) return known ?? ''
      const states = element
        .getAttributeNames()
        .filter((name) =>
          /^(class|data-.*|aria-(pressed|invalid|disabled|current|selected)|disabled|type)$/.test(name),
        )
        .map((name) => `${name}=${element.getAttribute(name)}`)
      const look = `${lookOf(element.parentElement)} > ${element.tagName} ${states.join(' ')}`
      looks.set(element, look)
      return look
    }
    const chosen = new Map<string, HTMLElement>()
    for (const element of document.querySelectorAll<HTMLElement>('body *')) {
      const hasText = [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && /\S/.test(node.nodeValue ?? ''),
      )
      const isField = element.matches('input, select, textarea')
      if ((hasText || isField) && element.checkVisibility() && !chosen.has(lookOf(element)))
        chosen.set(lookOf(element), element)
    }
    return [...chosen.values()]
  }

  /** axe leaves placeholders out. */
  function ratioOf(text: string, background: string): number {
    const { Color, getContrast } = (
      tester as unknown as {
        commons: {
          color: {
            Color: new () => { parseString: (color: string) => void }
            getContrast: (background: unknown, text: unknown) => number
          }
        }
      }
    ).commons.color
    const [front, back] = [text, background].map((color) => {
      const parsed = new Color()
      parsed.parseString(color)
      return parsed
    })
    return getContrast(back, front)
  }

  function backgroundOf(element: Element): string {
    const { backgroundColor } = getComputedStyle(element)
    const isClear = /^(transparent|rgba\(0, 0, 0, 0\))$/.test(backgroundColor)
    return isClear && element.parentElement ? backgroundOf(element.parentElement) : backgroundColor
  }

  for (const [index, theme] of themes.entries()) {
    Object.assign(dataset, theme)
    await ask(theme, index === 0 && standard.length > 0)
  }
  Object.assign(dataset, { accent: ownAccent, contrast: ownContrast, mode: ownMode })
  return found
}
