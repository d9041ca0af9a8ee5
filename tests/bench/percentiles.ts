/** What a line of a bench says of its samples, in milliseconds. */
export type Percentiles = { n: number; p50: number; p95: number; p99: number }

/** Nearest rank; two decimals. */
export function percentiles(samples: readonly number[]): Percentiles {
  const sorted = samples.toSorted((a, b) => a - b)
  const at = (share: number): number => {
    const sample = sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
    return Math.round(sample * 100) / 100
  }
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
