import type { ListedDifference } from './compare.query.ts'

/** An instant as a difference tells it. */
export const sinceText = (instant: Date | null): string | null => instant?.toISOString() ?? null

type Seen = Pick<ListedDifference, 'wrongSeconds' | 'errorText'>

/** What was seen of one address on a list. */
export const listedWords = (kind: ListedDifference['kind'], seen: Seen): string => words[kind](seen)

const words: Readonly<Record<ListedDifference['kind'], (seen: Seen) => string>> = {
  leftOpen: ({ errorText }) => `ordered closed, and still there${reason(errorText)}`,
  missing: ({ errorText }) => `ordered open, and not there${reason(errorText)}`,
  foreign: () => 'nobody ordered it',
  tooLong: ({ wrongSeconds }) =>
    wrongSeconds === null ? 'it has no end there' : `ends ${wrongSeconds} s after its end`,
  tooShort: ({ wrongSeconds }) => `ends ${wrongSeconds ?? 0} s before its end`,
}

const reason = (errorText: string | null): string => (errorText === null ? '' : `: ${errorText}`)
