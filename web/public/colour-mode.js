// Sets the colour mode before the first paint. Kept in step with shell/colour-mode.ts.
;(() => {
  let mode = 'auto'
  try {
    mode = localStorage.getItem('colourMode') || 'auto'
  } catch {
    // Storage is off: follow the system.
  }
  const isDark = mode === 'dark' || (mode !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.mode = isDark ? 'dark' : 'light'
})()

// Keeps zod from trying whether it may generate code: the content security policy forbids it, and each try is a
// breach that browsers report. Stands here because it has to be said before the first schema is made.
globalThis.__zod_globalConfig = { jitless: true }
