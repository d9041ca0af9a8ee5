import { expect, it } from 'vitest'
import { createQueryClient, freshFor } from './query-client.ts'
import { themeQuery } from './theme.ts'

it('caches: user and admin status 3 min, admin lists 3 min, theme 10 min, default 5 min', () => {
  expect(freshFor).toEqual({ status: 180_000, list: 180_000, default: 300_000 })
  expect(createQueryClient().getDefaultOptions().queries?.staleTime).toBe(300_000)
  expect([themeQuery.staleTime, themeQuery.gcTime]).toEqual([600_000, 600_000])
})
