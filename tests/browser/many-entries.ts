import { statusNumbers } from '#machines/grant-status.ts'
import type { AclStatus } from '#server/status/status.schema.ts'

const categories = ['Finance', 'Production', 'Default', 'Laboratory']
const icons = ['server', 'database', 'credit-card', 'shield', 'globe', 'terminal']
const restrictions = ['internalOnly', 'externalOnly', 'allowList', 'denyList'] as const

/**
 * Entries as a status has them: every status number over and over, with links, errors, restrictions, fixed addresses
 * and passive lists among them, in four categories.
 */
export const manyEntries = (count: number): AclStatus[] =>
  Array.from({ length: count }, (_, index) => {
    const status = statusNumbers[index % statusNumbers.length] ?? 4
    const isOpen = [0, 5, 6, 8].includes(status)
    const isPassive = status === 5 || status === 6
    const isRestricted = index % 13 === 12
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
    return {
      ID: id,
      ACLID: id,
      ParentID: null,
      Description: `${categories[index % categories.length]} ${index}${index % 9 === 4 ? ' with a long name that has to wrap on a telephone' : ''}`,
      URL: index % 2 === 0 ? `https://host-${index}.example.com/start` : '',
      Icon: icons[index % icons.length] ?? 'server',
      Category: categories[index % categories.length] ?? 'Default',
      Status: status,
      Error: status === 1 || status === 10 ? 'err.grantFailed' : null,
      ExpiredAfter: isOpen ? inMinutes(index % 3 === 0 ? 9 : 95) : null,
      ClickToGrant: index % 11 !== 7,
      HideFromUsers: false,
      DisableForUser: isRestricted,
      GrantTypeFixedIps: index % 7 === 5,
      CGNATOpen: index % 6 === 3,
      AutoBrowseUsers: false,
      Config: {},
      VerifiedAt: status === 0 ? inMinutes(-0.2) : null,
      Verified: status === 0 || status === 9 ? 'verified' : null,
      RestrictedBy: isRestricted ? (restrictions[index % restrictions.length] ?? null) : null,
      Passive: isPassive,
      ListReadAt: isPassive ? inMinutes(-2) : null,
      NextReadAt: isPassive ? inMinutes(3) : null,
    }
  })

const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString()
