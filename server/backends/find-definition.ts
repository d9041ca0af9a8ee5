import { apiError } from '../errors.ts'
import type { Definition } from './definitions/definition.ts'
import { definitions, isBackendId } from './definitions/index.ts'

/**
 * The definition of a kind, for code that treats all kinds alike.
 *
 * @throws err.noBackendSelected for a kind that there isn't.
 */
export function getDefinition(type: string): Definition {
  if (!isBackendId(type)) throw apiError('err.noBackendSelected', { extra: type.slice(0, 64) })
  // Each kind's `targets` takes its own settings; they were parsed by the same definition's schemas.
  return (definitions as Readonly<Record<string, unknown>>)[type] as Definition
}
