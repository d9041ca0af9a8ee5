/** Calls once the page has loaded and the browser has nothing better to do. */
export function whenIdle(act: () => void): void {
  const wait = () => ('requestIdleCallback' in globalThis ? requestIdleCallback(act) : setTimeout(act, 200))
  if (document.readyState === 'complete') wait()
  else addEventListener('load', wait, { once: true })
}
