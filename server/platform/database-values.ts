import { type CustomTypesConfig, types } from 'pg'

/** Object ids of PostgreSQL's types, fixed for ever. */
const int8 = 20
const int8Array = 1016

/**
 * How column values become JavaScript's: bigint a number (refused where a number would be inexact), timestamptz
 * a Date, inet a text, the rest as `pg` does.
 */
export const columnTypes: CustomTypesConfig = {
  getTypeParser: (id: number, format?: 'text' | 'binary') => {
    if (id === int8) return toSafeNumber
    if (id === int8Array) return toSafeNumbers
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- every type id PostgreSQL sends, not only those named
    return types.getTypeParser(id, format)
  },
}

function toSafeNumber(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`The database's ${text} is too large to be exact.`)
  return number
}

function toSafeNumbers(text: string): (number | null)[] {
  const inside = text.slice(1, -1)
  return inside === '' ? [] : inside.split(',').map((part) => (part === 'NULL' ? null : toSafeNumber(part)))
}
