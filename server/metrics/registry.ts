/**
 * Prometheus' text format 0.0.4, and the three kinds of metrics it is made of.
 *
 * Label values are declared, never taken from data: nothing about a user can get into a metric, and the number of
 * series is known.
 */

/** What a metric is called and means. `name` ends in its unit, counters in `_total`. */
type About = { name: string; help: string }

/** A label with every value it can have. */
export type Label<Value extends string = string> = { name: string; values: readonly Value[] }

/** Content type of the text. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

/** A set of metrics; they are written in the order in which they were made. */
export function createRegistry() {
  const writers: (() => string[])[] = []

  /** Something that only grows, counted here; `add` with one of the label's values. */
  function counter<Value extends string>(about: About, label: Label<Value>) {
    const counts = new Map<Value, number>(label.values.map((value) => [value, 0]))
    writers.push(() => [
      ...head(about, 'counter'),
      ...[...counts].map(([value, count]) => sample(about.name, count, { [label.name]: value })),
    ])
    return {
      add: (value: Value, count = 1): void => {
        const known = counts.get(value)
        if (known !== undefined) counts.set(value, known + count)
      },
    }
  }

  /** A number read when somebody asks; one that can't be read is left out. */
  function value(about: About, type: 'gauge' | 'counter', read: () => Reading): void {
    writers.push(() => {
      const reading = read()
      if (reading === null) return []
      const samples: readonly Sample[] = typeof reading === 'number' ? [{ value: reading }] : reading
      return [...head(about, type), ...samples.map((one) => sample(about.name, one.value, one.labels))]
    })
  }

  /** How long something took, in seconds, by upper bounds in ascending order. */
  function histogram(about: About, bounds: readonly number[]) {
    const counts = bounds.map(() => 0)
    let sum = 0
    let count = 0
    writers.push(() => [
      ...head(about, 'histogram'),
      ...bounds.map((bound, index) =>
        sample(`${about.name}_bucket`, counts[index] ?? 0, { le: String(bound) }),
      ),
      sample(`${about.name}_bucket`, count, { le: '+Inf' }),
      sample(`${about.name}_sum`, sum),
      sample(`${about.name}_count`, count),
    ])
    return {
      observe: (seconds: number): void => {
        sum += seconds
        count += 1
        for (const [index, bound] of bounds.entries())
          if (seconds <= bound) counts[index] = (counts[index] ?? 0) + 1
      },
    }
  }

  return {
    counter,
    value,
    histogram,
    text: (): string => `${writers.flatMap((write) => write()).join('\n')}\n`,
  }
}

/** One number, one for each set of labels, or none at the moment. */
export type Reading = number | readonly Sample[] | null

type Sample = { value: number; labels?: Record<string, string> }

const head = ({ name, help }: About, type: string): string[] => [
  `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
  `# TYPE ${name} ${type}`,
]

function sample(name: string, value: number, labels: Record<string, string> = {}): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
}

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
