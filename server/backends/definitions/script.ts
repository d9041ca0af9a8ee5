import { z } from 'zod'
import { defineBackend, field } from './definition.ts'

/** Names a script may not be given: ours, and those that change how a program is loaded. Spec "Script variables". */
const reserved =
  /^(?:knoc_.*|PATH|LD_.*|NODE_.*|DENO_.*|BASH_ENV|ENV|IFS|SHELLOPTS|BASHOPTS|PYTHON.*|PERL.*|RUBY.*)$/i

const variableName = z
  .string()
  .min(1, 'err.emptyEnvVarName')
  .max(128, 'err.invalidEnvVarName')
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'err.invalidEnvVarName')
  .refine((name) => !reserved.test(name), 'err.invalidEnvVarName')

const value = z
  .string()
  .max(4096)
  .refine((text) => !text.includes('\0'), 'err.invalidField')

/**
 * A command on the agent's host that opens and closes by its own means; the agent reports, it can't verify.
 *
 * Off unless the agent's own configuration allows scripts, and then only commands under its script folder.
 */
export const script = defineBackend({
  id: 'script',
  label: 'backend.script',
  minAgentVersion: '1.6.0',
  needsAgent: true,
  expiry: 'agent',
  backend: z.strictObject({
    Command: z.string().min(1).max(256).register(field, { label: 'field.Command' }),
    EnvVars: z
      .array(z.strictObject({ Name: variableName, Sensitive: z.boolean().default(false) }))
      .max(64)
      .default([])
      .refine((rows) => new Set(rows.map((row) => row.Name)).size === rows.length, 'err.repeatedEnvVarNames')
      .register(field, { label: 'field.EnvVars' }),
  }),
  acl: z.strictObject({
    Name: z
      .string()
      .min(1, 'err.aclNameRequired')
      .max(64, 'err.invalidAclName')
      .regex(/^[A-Za-z0-9_-]+$/, 'err.invalidAclName')
      .register(field, { label: 'field.Name' }),
    EnvVars: z
      .record(variableName, z.strictObject({ Value: value, Encrypted: z.boolean().default(false) }))
      .default({}),
  }),
  targets: ({ agentId, backend, acl }) => [
    {
      families: [4, 6],
      key: `script:${agentId}:${backend.Command}:${acl.Name}`,
      list: { Name: acl.Name, EnvVars: acl.EnvVars },
    },
  ],
})
