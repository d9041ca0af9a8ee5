import { expect, it } from 'vitest'
import { ApiFailure, NetworkFailure } from '../api.ts'
import { asksToWait, retryWait } from './retry-wait.ts'

const refusal = new ApiFailure({ status: 429, code: 'err.tooManyRequests', extra: '30' })
const at = refusal.receivedAt

it('counts the seconds of a refusal down from when it came, and ends at 0', () => {
  expect(retryWait(refusal, at)).toBe(30)
  expect(retryWait(refusal, at + 1)).toBe(30)
  expect(retryWait(refusal, at + 29_001)).toBe(1)
  expect(retryWait(refusal, at + 30_000)).toBe(0)
  expect(retryWait(refusal, at + 90_000)).toBe(0)
})

it('knows nothing to wait for in any other failure', () => {
  for (const failure of [
    null,
    new NetworkFailure('down'),
    new ApiFailure({ status: 422, code: 'err.invalidCode', extra: '30' }),
    new ApiFailure({ status: 429, code: 'err.tooManyRequests' }),
    new ApiFailure({ status: 429, code: 'err.tooManyRequests', extra: 'soon' }),
  ]) {
    expect(asksToWait(failure)).toBe(false)
    expect(retryWait(failure, 0)).toBe(0)
  }
})
