/** Least ratio of body text, WCAG 2.2 §1.4.3. */
export const textRatio = 4.5
/** Least ratio of controls, focus rings and meaningful drawings, WCAG 2.2 §1.4.11. */
export const controlRatio = 3

const backgrounds = ['page', 'surface', 'sunken'] as const

/** Text colours and what they may stand on: [text, background]. */
export const textPairs: readonly (readonly [string, string])[] = [
  ...backgrounds.flatMap((background) =>
    ['ink', 'muted', 'accent-ink', 'ok', 'warn', 'danger'].map((text) => [text, background] as const),
  ),
  ['on-accent', 'accent'],
  ['on-accent', 'accent-strong'],
  ['on-danger', 'danger'],
  ['on-accent-soft', 'accent-soft'],
  ['accent-ink', 'accent-soft'],
  ['ink', 'accent-soft'],
  ['ok', 'ok-soft'],
  ['warn', 'warn-soft'],
  ['danger', 'danger-soft'],
  ['ink', 'ok-soft'],
  ['ink', 'warn-soft'],
  ['ink', 'danger-soft'],
]

/** Borders of controls, rings and fills that carry meaning: [drawing, background]. */
export const controlPairs: readonly (readonly [string, string])[] = [
  ...backgrounds.flatMap((background) =>
    ['control', 'focus', 'accent', 'danger'].map((drawing) => [drawing, background] as const),
  ),
  ['focus', 'accent-soft'],
]
