import { usualSessionMinutes } from '../../users/identity-user.service.ts'
import type { IdentityClaims } from '../identity/identity.ts'
import { attributeOf, childrenNamed, plainTextOf } from './xml-tree.ts'

/** A year. */
const mostSessionMinutes = 525_600

/**
 * Reads the attributes of a verified assertion: `realName`, `groups` (many), `sessionDuration` (minutes). Specification
 * README "SAML"; console §5. No groups are an answer, too: what was claimed before goes. Minutes that are absent, out
 * of range or no whole number are the usual ones.
 */
export function readClaims(assertion: Element): IdentityClaims {
  const valuesOf = readAttributes(assertion)
  const realName = valuesOf('realName').find((name) => name.length <= 256)
  return {
    ...(realName !== undefined && { realName }),
    groups: [...new Set(valuesOf('groups'))],
    sessionMinutes: toSessionMinutes(valuesOf('sessionDuration')),
  }
}

function readAttributes(assertion: Element): (name: string) => string[] {
  const attributes = childrenNamed(assertion, 'assertion', 'AttributeStatement').flatMap((statement) =>
    childrenNamed(statement, 'assertion', 'Attribute'),
  )
  return (name) =>
    attributes
      .filter((attribute) => attributeOf(attribute, 'Name') === name)
      .flatMap((attribute) => childrenNamed(attribute, 'assertion', 'AttributeValue'))
      .map((value) => plainTextOf(value)?.trim() ?? '')
      .filter((value) => value !== '')
}

function toSessionMinutes([text, ...others]: readonly string[]): number {
  if (text === undefined || others.length > 0 || !/^\d{1,6}$/.test(text)) return usualSessionMinutes
  const minutes = Number(text)
  return minutes >= 1 && minutes <= mostSessionMinutes ? minutes : usualSessionMinutes
}
