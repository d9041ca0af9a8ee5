import { z } from 'zod'
import { defineBackend, field } from './definition.ts'

/** Kernel limit IPSET_MAXNAMELEN is 32 with the end mark; the pipe to ipset takes one command a line. */
const setName = z
  .string()
  .max(31, 'err.ipsetNameInvalid')
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.:-]*$/, 'err.ipsetNameInvalid')

/**
 * A Linux host's ipsets: one set per family, named by the administrator, made before use.
 *
 * The kernel ends entries by itself (`timeout`), so a dead agent leaves nothing open past its end.
 */
export const ipset = defineBackend({
  id: 'ipset',
  label: 'backend.ipset',
  minAgentVersion: '1.6.0',
  needsAgent: true,
  expiry: 'native',
  backend: z.strictObject({}),
  acl: z
    .strictObject({
      V4SetName: setName.optional().register(field, { label: 'field.V4SetName' }),
      V6SetName: setName.optional().register(field, { label: 'field.V6SetName' }),
    })
    .refine((acl) => acl.V4SetName !== undefined || acl.V6SetName !== undefined, {
      error: 'err.ipsetNameRequired',
      path: ['V4SetName'],
    })
    .refine((acl) => acl.V4SetName === undefined || acl.V4SetName !== acl.V6SetName, {
      error: 'err.ipsetNameInvalid',
      path: ['V6SetName'],
    }),
  targets: ({ agentId, acl }) =>
    (
      [
        [4, acl.V4SetName],
        [6, acl.V6SetName],
      ] as const
    ).flatMap(([family, name]) =>
      name === undefined
        ? []
        : [{ families: [family], key: `ipset:${agentId}:${name}`, list: { SetName: name } }],
    ),
})
