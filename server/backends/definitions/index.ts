import { ipset } from './ipset.ts'
import { script } from './script.ts'

/** Every kind of enforcement point, by the key that names it in `Config`. To add one: copy ipset.ts, add a line. */
export const definitions = { ipset, script } as const

export type BackendId = keyof typeof definitions

/** Whether a text names a kind of enforcement point. */
export const isBackendId = (text: string): text is BackendId => Object.hasOwn(definitions, text)

/** Lists that firewalls fetch by themselves: nothing is ordered, what was read is what stands. */
const passiveTypes: ReadonlySet<string> = new Set(['allowlist'])

/** Whether a stored type is a list without an agent. */
export const isPassiveType = (type: string | null): boolean => type !== null && passiveTypes.has(type)
