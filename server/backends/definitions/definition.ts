import { z } from 'zod'

/** What a form needs to know of a field beyond its rule; stands on the schema so that the two can't drift. */
export type FieldHint = {
  /** Translation key of the label. */
  label: string
  /** Sealed to the agent when saved, never read back; shown as RECORDED. */
  secret?: boolean
  placeholder?: string
  /** Translation keys of a choice's values. */
  choices?: Readonly<Record<string, string>>
}

/** The registry a definition's schemas register their fields in: `z.string().register(field, {label})`. */
export const field = z.registry<FieldHint>()

/** One list on the enforcement point that an ACL's entries are kept in. */
export type TargetPlan = {
  /** 4 or 6: entries of that family go here; both when the list takes both. */
  families: readonly (4 | 6)[]
  /** The same for everybody who means the same list, whatever knoc names it (decision 5). */
  key: string
  /** Plain settings of the list, as the agent's driver reads them. */
  list: Record<string, unknown>
}

/** A kind of enforcement point: what to ask an administrator, and which lists that makes. */
export type Definition<Backend extends z.ZodObject = z.ZodObject, Acl extends z.ZodObject = z.ZodObject> = {
  id: string
  /** Translation key. */
  label: string
  /** Lowest agent version that can drive it. */
  minAgentVersion: string
  /** False for lists that firewalls fetch from the server. */
  needsAgent: boolean
  /** `native`: the enforcement point ends an entry by itself; `agent`: the agent has to (decision 12). */
  expiry: 'native' | 'agent'
  backend: Backend
  acl: Acl
  /** The lists an ACL of this kind keeps its entries in. */
  targets: (config: {
    aclId: string
    agentId: string | null
    backend: z.output<Backend>
    acl: z.output<Acl>
  }) => TargetPlan[]
}

/** Declares a definition and keeps its exact types. */
export const defineBackend = <
  const Id extends string,
  const NeedsAgent extends boolean,
  Backend extends z.ZodObject,
  Acl extends z.ZodObject,
>(
  definition: Definition<Backend, Acl> & { id: Id; needsAgent: NeedsAgent },
): Definition<Backend, Acl> & { id: Id; needsAgent: NeedsAgent } => definition
