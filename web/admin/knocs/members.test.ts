import { expect, it } from 'vitest'
import { chosenGroups, chosenUsers, type Members, withKnown } from './members.ts'

const members: Members = { userIds: ['b', 'a', 'x'], groupIds: ['g1', 'g2', 'g3'], known: {} }
const user = (ID: string, Name: string) => ({ ID, Name, Company: null, UserName: ID })

it('shows the chosen users that are known, by name', () => {
  const known = withKnown(withKnown(members, [user('a', 'Zoe'), user('c', 'Nobody')]), [user('b', 'Ada')])
  expect(chosenUsers(known, 'en-AU').map(({ Name }) => Name)).toEqual(['Ada', 'Zoe'])
})

it('keeps SAML groups apart from the others', () => {
  const group = (ID: string, Type: string) => ({ ID, Type })
  const groups = [group('g1', 'saml'), group('g2', 'local'), group('g3', 'dynamic'), group('g4', 'local')]
  const { saml, local } = chosenGroups(members, groups)
  expect([saml, local].map((kind) => kind.map(({ ID }) => ID))).toEqual([['g1'], ['g2', 'g3']])
})
