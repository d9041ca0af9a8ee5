import { apiError } from '../errors.ts'
import { listLost } from './seal.ts'
import { backendField, type Sealed } from './sealing.schema.ts'

/**
 * A backend's recorded secrets that stay, beside those given now (both by path).
 *
 * @throws err.credentialsRequired, Extra the fields, when one is lost or was sealed for another place.
 */
export function keepSecrets(
  sealed: Sealed,
  { given, isMoved }: { given: Readonly<Record<string, string>>; isMoved: boolean },
): Sealed {
  const kept = Object.fromEntries(Object.entries(sealed).filter(([path]) => !Object.hasOwn(given, path)))
  const missing = isMoved ? Object.keys(kept) : listLost(kept)
  if (missing.length > 0) throw apiError('err.credentialsRequired', { extra: toNames(missing) })
  return kept
}

/** Recorded secrets of a list that stay; err.credentialsRequired when they were sealed for another place. */
export function keepListSecrets(
  sealed: Sealed,
  { keep, isMoved }: { keep: readonly string[]; isMoved: boolean },
): Sealed {
  if (isMoved && keep.length > 0) throw apiError('err.credentialsRequired', { extra: toNames(keep) })
  return Object.fromEntries(keep.map((path) => [path, sealed[path] ?? '']))
}

/** Secrets by name as secrets by path. */
export const toPaths = (given: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [backendField(name), value]))

const toNames = (paths: readonly string[]): string =>
  paths.map((path) => path.replace(/^(?:backend|list)\./, '')).join(',')
