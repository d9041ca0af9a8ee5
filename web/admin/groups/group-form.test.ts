import { describe, expect, it } from 'vitest'
import { type GroupRow, groupSchema, groupUpdateSchema } from '#server/groups/group.schema.ts'
import { groupFormSchema, toGroupCreate, toGroupUpdate, toGroupValues } from './group-form.ts'

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const group: GroupRow = {
  ID: id(1),
  Name: 'Finance',
  Description: null,
  Type: 'local',
  ACLIDs: [id(2)],
  UserIDs: Array.from({ length: 1_000 }, (_, index) => id(100 + index)),
  UserCount: 1_000,
  LastModifiedAt: '2026-01-01T00:00:00Z',
}
const filled = (values: Partial<ReturnType<typeof toGroupValues>>, of: GroupRow | undefined = group) =>
  groupFormSchema.parse({ ...toGroupValues(of), ...values })

describe('the group form', () => {
  it('creates what the server takes, without users where claims bring them', () => {
    const members = { userIds: [id(3)], groupIds: [], known: {} }
    const local = toGroupCreate(filled({ Name: 'New', members }, undefined))
    expect(groupSchema.safeParse(local).error).toBeUndefined()
    expect(local).toMatchObject({ Type: 'local', UserIDs: [id(3)] })
    expect(toGroupCreate(filled({ Name: 'New', members, Type: 'saml' }, undefined))).not.toHaveProperty(
      'UserIDs',
    )
  })

  it('leaves lists alone that nobody touched, in whatever order they came', () => {
    const body = toGroupUpdate(filled({ Name: 'Money', ACLIDs: [...group.ACLIDs] }), group)
    expect(groupUpdateSchema.safeParse(body).error).toBeUndefined()
    expect(body).toEqual({ ID: group.ID, Name: 'Money', Description: '', Type: 'local' })
    const turned = { userIds: group.UserIDs.toReversed(), groupIds: [], known: {} }
    expect(toGroupUpdate(filled({ members: turned }), group)).not.toHaveProperty('UserIDs')
  })

  it('keeps every other member when one goes, however many the list has shown', () => {
    const userIds = group.UserIDs.filter((user) => user !== id(150))
    const body = toGroupUpdate(filled({ members: { userIds, groupIds: [], known: {} } }), group)
    expect(body.UserIDs).toHaveLength(999)
    expect(body).not.toHaveProperty('ACLIDs')
  })

  it('notices one member in another’s place', () => {
    const userIds = [...group.UserIDs.slice(1), id(9)]
    const body = toGroupUpdate(filled({ members: { userIds, groupIds: [], known: {} } }), group)
    expect(body.UserIDs).toEqual(userIds)
  })

  it('never sends users of a SAML group, and empties a list when all are taken out', () => {
    const none = { userIds: [], groupIds: [], known: {} }
    const saml = { ...group, Type: 'saml' } as const
    expect(toGroupUpdate(filled({ members: none }, saml), saml)).not.toHaveProperty('UserIDs')
    expect(toGroupUpdate(filled({ members: none, ACLIDs: [] }), group)).toMatchObject({
      UserIDs: [],
      ACLIDs: [],
    })
  })

  it('asks for a name', () => {
    expect(groupFormSchema.safeParse(toGroupValues(undefined)).success).toBe(false)
  })
})
