import { expect, it } from 'vitest'
import { clockTime, relativeTime, timeSpan } from './relative-time.ts'

const locale = 'en-AU'
const relative = (difference: number, language = locale) =>
  relativeTime(difference, { now: 0, locale: language })

it('tells how far an instant is away, in the locale’s words', () => {
  expect(relative(0)).toBe('now')
  expect(relative(-999)).toBe('now')
  expect(relative(-5_000)).toBe('5 seconds ago')
  expect(relative(90_000)).toBe('in 1 minute')
  expect(relative(-3 * 3_600_000)).toBe('3 hours ago')
  expect(relative(2 * 86_400_000)).toBe('in 2 days')
})

it('tells it in German, with the case that belongs there', () => {
  expect(relative(0, 'de')).toBe('jetzt')
  expect(relative(-60_000, 'de')).toBe('vor 1 Minute')
  expect(relative(-3 * 60_000, 'de')).toBe('vor 3 Minuten')
  expect(relative(5_000, 'de')).toBe('in 5 Sekunden')
  expect(relative(-3 * 86_400_000, 'de')).toBe('vor 3 Tagen')
  expect(relative(-1_234 * 86_400_000, 'de')).toBe('vor 1.234 Tagen')
})

it('tells a span in its largest units', () => {
  expect(timeSpan(-1, locale)).toBe('0 seconds')
  expect(timeSpan(59_999, locale)).toBe('59 seconds')
  expect(timeSpan(14 * 60_000, locale)).toBe('14 minutes')
  expect(timeSpan(2 * 3_600_000, locale)).toBe('2 hours')
  expect(timeSpan(2 * 3_600_000 + 5 * 60_000, locale)).toBe('2h 5m')
  expect(timeSpan(72 * 3_600_000, locale)).toBe('3 days')
})

it('tells a span in German', () => {
  expect(timeSpan(14 * 60_000, 'de')).toBe('14 Minuten')
  expect(timeSpan(60_000, 'de')).toBe('1 Minute')
  expect(timeSpan(2 * 3_600_000 + 5 * 60_000, 'de')).toBe('2 Std. 5 Min.')
  expect(timeSpan(72 * 3_600_000, 'de')).toBe('3 Tage')
})

it('counts down to zero and no further', () => {
  expect(clockTime(8 * 3_600_000)).toBe('08:00:00')
  expect(clockTime(61_001)).toBe('00:01:02')
  expect(clockTime(1)).toBe('00:00:01')
  expect(clockTime(0)).toBe('00:00:00')
  expect(clockTime(-5)).toBe('00:00:00')
  expect(clockTime(120 * 3_600_000)).toBe('120:00:00')
})
