import type { Deps } from '../../context.ts'
import { readDatabaseTime } from '../../sessions/session.query.ts'
import type { Realm } from '../../sessions/session-cookie.ts'
import type { IdentityClaims } from '../identity/identity.ts'
import { findIdentityRequest, useAssertion, useIdentityRequest } from '../identity/identity-request.store.ts'
import { readClaims } from './claims.ts'
import { refusal } from './read-response.ts'
import {
  attributeOf,
  childrenNamed,
  elementsIn,
  isNamed,
  parseXml,
  plainTextOf,
  withDescendants,
} from './xml-tree.ts'

/** What an assertion must say to be for us, here and now. */
export type Expected = {
  realm: Realm
  /** Hash of the pre-login cookie of the browser that brings it. */
  browserHash: string
  /** The identity provider's entity id. */
  issuer: string
  /** Our entity id. */
  audience: string
  /** Our assertion consumer. */
  recipient: string
}

/** Who signed in, by the identity provider's word that is now used up, and what we sent the browser away with. */
export type Asserted = {
  userName: string
  claims: IdentityClaims
  requestId: string
  facts: Record<string, unknown>
}

/** How far the clocks of two organisations may differ. */
const skewMilliseconds = 60_000

/** SAML Core §8.3: a persistent NameID has up to 256 characters. */
const longestName = 256

/**
 * Decision 16, all of it: the library verifies signatures and compares nothing. Takes the verified assertion, as the
 * text that was signed, and nothing else; refuses unless it is one assertion of our identity provider, for us, for the
 * bearer, in time, in answer to an open request of this browser, and never seen before. Only then request and
 * assertion are used up. SAML Core 2.0 §2, SAML Profiles 2.0 §4.1.4.
 *
 * @throws err.authenticationFailed with the reason for the audit log.
 */
export async function checkAssertion(
  { db }: Pick<Deps, 'db'>,
  verified: string,
  expected: Expected,
): Promise<Asserted> {
  const now = await readDatabaseTime(db.grants)
  const assertion = toAssertion(verified)
  const id = attributeOf(assertion, 'ID')
  if (id === undefined) throw refusal('assertion without an ID')
  if (textOf(assertion, 'Issuer') !== expected.issuer) throw refusal('issuer of the assertion is another')
  const subject = one(assertion, 'Subject')
  const userName = readUserName(subject)
  const expiresAt = checkConditions(one(assertion, 'Conditions'), expected, now)
  const requestId = checkBearer(subject, expected, now)
  checkSession(assertion, now)
  const claims = readClaims(assertion)

  const request = await findIdentityRequest(db.grants, {
    realm: expected.realm,
    kind: 'saml',
    requestId,
    browserHash: expected.browserHash,
  })
  if (request === undefined) throw refusal('InResponseTo is no open request of this browser')
  if (!(await useAssertion(db.grants, { issuer: expected.issuer, id, expiresAt })))
    throw refusal('assertion was used before')
  if (!(await useIdentityRequest(db.grants, requestId))) throw refusal('request was answered meanwhile')
  return { userName, claims, requestId, facts: request.facts }
}

function toAssertion(verified: string): Element {
  const root = parseXml(verified)
  if (!isNamed(root, 'assertion', 'Assertion')) throw refusal('what is signed is no assertion')
  const count = withDescendants(root).filter(({ localName }) => localName === 'Assertion').length
  if (count !== 1) throw refusal(`${count} assertions within what is signed`)
  if (root.getAttribute('Version') !== '2.0') throw refusal('assertion of another version than 2.0')
  return root
}

/** A transient name would be a new user each time. */
function readUserName(subject: Element): string {
  const nameId = one(subject, 'NameID')
  if (attributeOf(nameId, 'Format')?.endsWith(':transient')) throw refusal('NameID is transient')
  const name = plainTextOf(nameId)
  if (name === undefined) throw refusal('NameID with something else in it than text')
  if (name === '' || name.length > longestName) throw refusal(`NameID of ${name.length} characters`)
  return name
}

/** @returns when the assertion ends, and with it the need to remember it. */
function checkConditions(conditions: Element, { audience }: Expected, now: Date): Date {
  const expiresAt = checkTimes(conditions, now, 'Conditions', ['NotBefore', 'NotOnOrAfter'])
  const known = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction']
  const unknown = elementsIn(conditions).find((child) => !known.includes(child.localName))
  // Core §2.5.1.1: a condition that isn't understood leaves the assertion's validity undecided.
  if (unknown !== undefined) throw refusal(`condition ${unknown.localName} is not known`)
  const restrictions = childrenNamed(conditions, 'assertion', 'AudienceRestriction')
  const isForUs = (restriction: Element) =>
    childrenNamed(restriction, 'assertion', 'Audience').some((element) => plainTextOf(element) === audience)
  if (restrictions.length === 0) throw refusal('no audience')
  if (!restrictions.every(isForUs)) throw refusal('audience is another')
  return new Date(expiresAt.getTime() + skewMilliseconds)
}

/** @returns the request that is answered. */
function checkBearer(subject: Element, { recipient }: Expected, now: Date): string {
  const bearers = childrenNamed(subject, 'assertion', 'SubjectConfirmation').filter(
    (confirmation) => attributeOf(confirmation, 'Method') === 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
  )
  const [bearer] = bearers
  if (bearer === undefined || bearers.length > 1) throw refusal(`${bearers.length} bearer confirmations`)
  const data = one(bearer, 'SubjectConfirmationData')
  if (attributeOf(data, 'Recipient') !== recipient) throw refusal('recipient is another')
  checkTimes(data, now, 'confirmation', ['NotOnOrAfter'])
  const requestId = attributeOf(data, 'InResponseTo')
  if (requestId === undefined) throw refusal('no InResponseTo in the assertion: nobody asked for it')
  return requestId
}

/** The identity provider's own session may be over although the assertion still is young. */
function checkSession(assertion: Element, now: Date): void {
  const statements = childrenNamed(assertion, 'assertion', 'AuthnStatement')
  if (statements.length === 0) throw refusal('nobody authenticated')
  for (const statement of statements) {
    const end = readInstant(statement, 'SessionNotOnOrAfter')
    if (end !== undefined && now.getTime() >= end.getTime() + skewMilliseconds)
      throw refusal('the session at the identity provider is over')
  }
}

type Bound = 'NotBefore' | 'NotOnOrAfter'

/** @returns NotOnOrAfter. */
function checkTimes(element: Element, now: Date, where: string, needed: readonly Bound[]): Date {
  const [from, end] = [readInstant(element, 'NotBefore'), readInstant(element, 'NotOnOrAfter')]
  const missing = needed.find((bound) => (bound === 'NotBefore' ? from : end) === undefined)
  if (missing !== undefined || end === undefined) throw refusal(`${where} without ${missing}`)
  if (from !== undefined && now.getTime() < from.getTime() - skewMilliseconds)
    throw refusal(`${where}: not yet valid`)
  if (now.getTime() >= end.getTime() + skewMilliseconds) throw refusal(`${where}: expired`)
  return end
}

/** Core §1.3.3: instants are UTC and say so. */
function readInstant(element: Element, name: string): Date | undefined {
  const text = attributeOf(element, name)
  if (text === undefined) return undefined
  const instant = new Date(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? text : Number.NaN)
  if (Number.isNaN(instant.getTime())) throw refusal(`${name} is no instant in UTC`)
  return instant
}

function one(parent: Element, name: string): Element {
  const [child, ...others] = childrenNamed(parent, 'assertion', name)
  if (child === undefined || others.length > 0)
    throw refusal(`${child === undefined ? 'no' : 'more than one'} ${name}`)
  return child
}

const textOf = (parent: Element, name: string) => plainTextOf(one(parent, name))
