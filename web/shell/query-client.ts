import { notifyManager, QueryClient } from '@tanstack/react-query'
import { isOutage } from '../api.ts'

/** How long an answer counts as fresh, in milliseconds. Portal §9. */
export const freshFor = { status: 3 * 60_000, list: 3 * 60_000, default: 5 * 60_000 }

// Guards judge by what the cache holds. A page that changes it and then navigates is judged by what it has changed:
// with the default, a timer, the new address would be judged by the old answer.
notifyManager.setScheduler(queueMicrotask)

/** The page's cache of answers. Only outages are tried again by themselves, a refusal is an answer. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: freshFor.default,
        retry: (count, error) => count < 2 && isOutage(error),
        retryDelay: (attempt) => Math.min(1_000 * 2 ** attempt, 8_000),
        refetchOnWindowFocus: false,
      },
      mutations: { retry: false },
    },
  })
