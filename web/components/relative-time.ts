const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

/** How far an instant is from `now`, in the locale's words: 'in 5 minutes', '2 days ago', 'now'. */
export function relativeTime(at: number, { now, locale }: { now: number; locale: string }): string {
  const { value, unit } = inLargestUnit(at - now)
  return new Intl.RelativeTimeFormat(locale, {
    numeric: unit === 'second' && value === 0 ? 'auto' : 'always',
  }).format(value, unit)
}

/** A time span in its largest unit: '5 minutes', '1h 20m' above an hour, in German '1 Std. 20 Min.'. Never below zero. */
export function timeSpan(milliseconds: number, locale: string): string {
  const rest = Math.max(0, milliseconds)
  const hours = Math.floor(rest / 3_600_000)
  if (hours >= 48) return amount(Math.floor(hours / 24), 'day', locale)
  if (hours >= 1) {
    const minutes = Math.floor((rest % 3_600_000) / 60_000)
    return minutes === 0
      ? amount(hours, 'hour', locale)
      : `${amount(hours, 'hour', locale, compact(locale))} ${amount(minutes, 'minute', locale, compact(locale))}`
  }
  return rest >= 60_000
    ? amount(Math.floor(rest / 60_000), 'minute', locale)
    : amount(Math.floor(rest / 1_000), 'second', locale)
}

/** HH:MM:SS, hours as many as there are; never below zero. */
export function clockTime(milliseconds: number): string {
  const seconds = Math.ceil(Math.max(0, milliseconds) / 1_000)
  return [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}

/** English has letters that everybody reads; elsewhere browsers' narrow forms mix letters and abbreviations. */
const compact = (locale: string) => (locale.startsWith('en') ? 'narrow' : 'short')

const amount = (
  value: number,
  unit: string,
  locale: string,
  unitDisplay: 'long' | 'short' | 'narrow' = 'long',
): string => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay }).format(value)

function inLargestUnit(difference: number): { value: number; unit: Intl.RelativeTimeFormatUnit } {
  for (const [unit, size] of units)
    if (Math.abs(difference) >= size) return { value: Math.trunc(difference / size), unit }
  return { value: 0, unit: 'second' }
}
