/** What a coloured part says. */
export type Tone = 'neutral' | 'accent' | 'ok' | 'warn' | 'danger'

/** Soft background with readable text, by tone. */
export const softTone: Record<Tone, string> = {
  neutral: 'bg-sunken text-ink',
  accent: 'bg-accent-soft text-on-accent-soft',
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  danger: 'bg-danger-soft text-danger',
}
