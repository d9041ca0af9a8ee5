import { z } from 'zod'
import { allowedFromSchema } from '../../api-keys/api-key.schema.ts'
import { defineBackend } from './definition.ts'

/**
 * A list that firewalls fetch from the server by themselves: no agent, nothing is ordered, what was read is what stands.
 *
 * The server leaves an entry out from its end on; a reader that can't reach it keeps what it has, unless it uses the
 * ends of the JSON form. Token and ApiKeyId are the server's: see `allowlist-settings.ts`.
 */
export const allowlist = defineBackend({
  id: 'allowlist',
  label: 'backend.allowlist',
  minAgentVersion: '0.0.0',
  needsAgent: false,
  expiry: 'native',
  backend: z.strictObject({}),
  acl: z
    .strictObject({
      /** Part of the list's address; drawn by the server. */
      Token: z.string(),
      /** The key that was named when the list was made; null: the reader's address decides. */
      ApiKeyId: z.uuid().nullable(),
      AllowAccessByIp: z.boolean(),
      AllowedIpAddresses: z.array(allowedFromSchema).max(100),
    })
    .refine((acl) => acl.ApiKeyId !== null || (acl.AllowAccessByIp && acl.AllowedIpAddresses.length > 0), {
      error: 'err.allowlistAccessIpRestrictionFormRequired',
      path: ['AllowedIpAddresses'],
    })
    .refine((acl) => acl.ApiKeyId === null || !(acl.AllowAccessByIp || acl.AllowedIpAddresses.length > 0), {
      error: 'err.invalidField',
      path: ['AllowAccessByIp'],
    }),
  targets: ({ aclId }) => [{ families: [4, 6], key: allowlistKey(aclId), list: {} }],
})

/** The key of an ACL's list. The list outlives its ACL: what was taken off it has to be read. */
export const allowlistKey = (aclId: string): string => `allowlist:${aclId}`
