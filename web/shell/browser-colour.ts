/** Gives the browser's own bars the page's colour, on a phone or as an installed app. After each change of theme. */
export function paintBrowser(): void {
  const colour = getComputedStyle(document.documentElement).getPropertyValue('--page').trim()
  const meta = document.querySelector('meta[name="theme-color"]')
  if (colour !== '' && meta?.getAttribute('content') !== colour) meta?.setAttribute('content', colour)
}
