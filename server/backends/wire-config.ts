import { backendField, type Sealed } from './sealing.schema.ts'
import { withRecorded } from './secret-fields.ts'

const prefix = backendField('')

/** A backend's settings as they read: one key, the type; recorded secrets show as RECORDED. */
export const toWireConfig = (backend: {
  type: string
  config: Record<string, unknown>
  sealed: Sealed
}): Record<string, Record<string, unknown>> => ({
  [backend.type]: withRecorded(backend.config, recordedNames(backend.sealed)),
})

/** Names of a backend's recorded secrets. */
export const recordedNames = (sealed: Sealed): string[] =>
  Object.keys(sealed).flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []))
