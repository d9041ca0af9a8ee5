import { refreshesList } from '../acls/child-acl.ts'
import { readConfig } from '../backends/backend-change.ts'
import { definitions, isPassiveType } from '../backends/definitions/index.ts'
import { apiError } from '../errors.ts'
import type { KnocRequest } from './knoc.schema.ts'

/**
 * Refuses a child below anything but a passive list, one that isn't a firewall to refresh, and such a firewall without a
 * list above it. Specification README "Passive+".
 *
 * @throws err.invalidField, Extra Child, Child.Backend.Config or Backend.Config
 */
export function checkChild({ Backend, ACL, Child }: Pick<KnocRequest, 'Backend' | 'ACL' | 'Child'>): void {
  const { type } = readConfig(Backend.Config)
  const { settings } = readConfig(ACL.Config)
  if (refreshesList(type, (settings ?? {}) as Record<string, unknown>))
    throw apiError('err.invalidField', { extra: 'Backend.Config' })
  if (Child === undefined) return
  if (!isPassiveType(type)) throw apiError('err.invalidField', { extra: 'Child' })
  if (readConfig(Child.Backend.Config).type !== definitions.panos.id)
    throw apiError('err.invalidField', { extra: 'Child.Backend.Config' })
}
