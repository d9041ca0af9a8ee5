/** Lets at most `places` tasks run at once; the others wait their turn. */
export function createLimiter(places: number) {
  const waiting: (() => void)[] = []
  let free = places

  function enter(): Promise<void> {
    if (free > 0) {
      free -= 1
      return Promise.resolve()
    }
    return new Promise((resolve) => waiting.push(resolve))
  }

  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) free += 1
    else next()
  }

  return async function limited<Result>(task: () => Promise<Result>): Promise<Result> {
    await enter()
    try {
      return await task()
    } finally {
      leave()
    }
  }
}
