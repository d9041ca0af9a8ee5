import { type Difference, type DifferenceKind, differenceKinds } from '../validation/differences.ts'
import { counts, type ValidationOptions, type ValidationReport } from '../validation/validate.service.ts'

type Asked = Pick<ValidationOptions, 'ignoreForeign' | 'acceptReported'>
type LookLine = Parameters<NonNullable<ValidationOptions['onLook']>>[0]

/** One look, on the terminal of somebody who waits. */
export const toLookLine = ({ number, agents, lists, entries, found }: LookLine): string =>
  `Look ${number}: ${amount(agents, 'agent')}, ${amount(lists, 'list')}, ${amount(entries, 'address', 'addresses')}, ${amount(found, 'difference')} so far …`

/** The report for people: a line for each difference, what each kind means and what to do, and a summary. */
export function toText(report: ValidationReport, asked: Asked, seconds: number): string {
  const { differences } = report
  const kinds = [...new Set(differences.map(({ kind }) => kind))]
  return [
    ...toTable(differences),
    ...(differences.length === 0 ? [] : ['']),
    ...kinds.map((kind) => explain(kind, asked)),
    ...(differences.length === 0 ? [] : ['']),
    summarise(report, asked, seconds),
  ].join('\n')
}

/** The report for programs. */
export function toJson(report: ValidationReport, asked: Asked, seconds: number): string {
  const differences = report.differences.map((difference) => ({
    ...difference,
    counts: counts(difference.kind, asked),
  }))
  const { agents, lists, entries, looks, isCut } = report
  const clean = !differences.some((difference) => difference.counts)
  return JSON.stringify({ clean, agents, lists, entries, looks, seconds: round(seconds), isCut, differences })
}

const round = (seconds: number): number => Math.round(seconds * 10) / 10

const columns: readonly ((difference: Difference) => string)[] = [
  ({ kind }) => differenceKinds[kind].label,
  ({ agent }) => agent ?? '-',
  ({ list, knocs }) => (list === null ? (knocs ?? '-') : knocs === null ? list : `${list} (${knocs})`),
  ({ address }) => address ?? '-',
  ({ userName }) => userName ?? '-',
  ({ since }) => (since === null ? '-' : `since ${since.slice(0, 19)}Z`),
  ({ detail }) => detail,
]

function toTable(differences: readonly Difference[]): string[] {
  const rows = differences.map((difference) => columns.map((column) => printable(column(difference))))
  const widths = columns.map((_, index) =>
    rows.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), 0),
  )
  return rows.map((row) =>
    row.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0))).join('  '),
  )
}

/** Names and devices' words may hold anything; a terminal obeys control characters. */
const printable = (text: string): string => text.replace(/\p{C}/gu, '?')

function explain(kind: DifferenceKind, asked: Asked): string {
  const { label, means, next } = differenceKinds[kind]
  return `${label}: ${means}. ${next}${counts(kind, asked) ? '' : ' (Does not count.)'}`
}

function summarise(report: ValidationReport, asked: Asked, seconds: number): string {
  const { agents, lists, entries, looks, differences, isCut } = report
  const counting = differences.filter(({ kind }) => counts(kind, asked)).length
  const others = differences.length - counting
  const verdict = counting === 0 ? 'Clean: nothing differs.' : `${amount(counting, 'difference')}.`
  const seen = `${amount(agents, 'agent')}, ${amount(lists, 'list')}, ${amount(entries, 'address', 'addresses')} compared in ${round(seconds)} s (${amount(looks, 'look')}).`
  return [
    verdict,
    ...(others === 0 ? [] : [`${others} more that don’t count.`]),
    ...(isCut ? ['There may be more than are told.'] : []),
    seen,
  ].join(' ')
}

const amount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-AU')} ${count === 1 ? one : many}`
