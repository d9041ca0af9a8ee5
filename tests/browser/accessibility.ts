import type { Page } from 'playwright-core'

/** Roles that somebody acts on: each needs a name that says what it does. */
const acted = new Set([
  ...['button', 'link', 'textbox', 'searchbox', 'checkbox', 'radio', 'switch', 'combobox', 'listbox'],
  ...['menuitem', 'tab', 'spinbutton', 'slider', 'dialog', 'alertdialog', 'img', 'image'],
])

/** What is wrong with the page for somebody who doesn't see or point, in words; empty when nothing is. */
export async function findBarriers(page: Page): Promise<string[]> {
  return [...(await page.evaluate(findInDocument)), ...(await findNameless(page))]
}

/** Asks the browser's own accessibility tree, which is what screen readers get. */
async function findNameless(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  return nodes
    .filter(({ ignored, role, name }) => !ignored && acted.has(role?.value) && !name?.value)
    .map(({ role, backendDOMNodeId }) => `a ${role?.value} without a name (node ${backendDOMNodeId})`)
}

/** Runs in the page. */
function findInDocument(): string[] {
  const found: string[] = []
  const all = <Kind extends Element = HTMLElement>(selector: string): Kind[] => [
    ...document.querySelectorAll<Kind>(selector),
  ]
  const say = (isWrong: boolean, what: string) => isWrong && found.push(what)
  const show = (element: Element) => element.outerHTML.slice(0, 140)

  say(!/^[a-z]{2}/.test(document.documentElement.lang), 'no language')
  say(!/\S/.test(document.title), 'no title')
  say(all('h1').length !== 1, `${all('h1').length} h1`)
  say(all('main').length !== 1, `${all('main').length} main landmarks`)

  const levels = all('h1,h2,h3,h4,h5,h6').map(({ tagName }) => Number(tagName[1]))
  levels.forEach((level, index) =>
    say(level > (levels[index - 1] ?? level) + 1, `h${level} follows no h${level - 1}`),
  )

  const ids = all('[id]').map(({ id }) => id)
  for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) say(true, `id ${id} twice`)
  for (const element of all('[tabindex]'))
    say(element.tabIndex > 0, `jumps the order of Tab: ${show(element)}`)
  for (const attribute of ['aria-labelledby', 'aria-describedby', 'aria-controls'])
    for (const element of all(`[${attribute}]`))
      for (const id of (element.getAttribute(attribute) ?? '').split(/\s+/))
        say(document.getElementById(id) === null, `${attribute} names nothing: ${show(element)}`)

  // WCAG 2.2, 2.5.8: 24 px, links within a text apart; a control inside a label is as large as the label.
  for (const element of all('button, a[href], input, select, textarea')) {
    const { width, height } = (element.closest('label') ?? element).getBoundingClientRect()
    const isShown = width > 1 && height > 1 && element.checkVisibility()
    const isInText = getComputedStyle(element).display === 'inline'
    say(isShown && !isInText && (width < 24 || height < 24), `${width}×${height} px to hit: ${show(element)}`)
  }
  const { scrollWidth, clientWidth } = document.documentElement
  say(scrollWidth > clientWidth, `${scrollWidth - clientWidth} px wider than the window`)
  return found
}

/** What has the focus, as somebody who looks at the screen would say. */
export type Focus = { name: string; isVisible: boolean; inDialog: boolean }

/** Where the focus is, and whether that can be seen: an outline of 2 px or more, within the window. */
export const focusOf = (page: Page): Promise<Focus> =>
  page.evaluate(() => {
    const element = document.activeElement
    if (!(element instanceof HTMLElement) || element === document.body)
      return { name: '', isVisible: false, inDialog: false }
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    const { top, bottom, width, height } = element.getBoundingClientRect()
    const labels = 'labels' in element ? [...(element.labels as NodeListOf<HTMLElement>)] : []
    const names = [
      element.getAttribute('aria-label'),
      ...labels.map((label) => label.innerText),
      element.innerText,
    ]
    return {
      name: names.find((name) => name)?.trim() ?? element.tagName,
      isVisible:
        outlineStyle !== 'none' &&
        Number.parseFloat(outlineWidth) >= 2 &&
        width > 0 &&
        height > 0 &&
        bottom > 0 &&
        top < innerHeight,
      inDialog: element.closest('[role="dialog"],[role="alertdialog"]') !== null,
    }
  })

/** Presses a key until what has the focus has this name; fails at a stop that can't be seen, and after 60. */
export async function moveTo(
  page: Page,
  name: string | RegExp,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  const passed: string[] = []
  for (let stop = 0; stop < 60; stop += 1) {
    await page.keyboard.press(key)
    const focus = await focusOf(page)
    if (focus.name !== '' && !focus.isVisible) throw new Error(`the focus on “${focus.name}” can't be seen`)
    if (typeof name === 'string' ? focus.name === name : name.test(focus.name)) return
    passed.push(focus.name)
  }
  throw new Error(`${key} never came to ${name}, only to: ${passed.join(' | ')}`)
}
