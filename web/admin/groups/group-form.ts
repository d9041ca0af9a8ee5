import { z } from 'zod'
import {
  type GroupRequest,
  type GroupRow,
  type GroupUpdate,
  groupSchema,
} from '#server/groups/group.schema.ts'
import type { Members } from '../knocs/members.ts'

/** Kinds of groups, in the order in which they are offered. Console §3 "Group". */
export const groupTypes = ['local', 'dynamic', 'saml'] as const satisfies readonly GroupRow['Type'][]

/** What the group form holds. Members are ids: lists show only part of them. */
export type GroupValues = {
  Name: string
  Description: string
  Type: GroupRow['Type']
  ACLIDs: string[]
  members: Members
}

/** What the form starts with. */
export const toGroupValues = (group: GroupRow | undefined): GroupValues => ({
  Name: group?.Name ?? '',
  Description: group?.Description ?? '',
  Type: group?.Type ?? 'local',
  ACLIDs: group?.ACLIDs ?? [],
  members: { userIds: group?.UserIDs ?? [], groupIds: [], known: {} },
})

const { Name } = groupSchema.shape

/** The wire's own rules; what was chosen is whatever the lists gave. */
export const groupFormSchema = z.object({
  Name,
  Description: z.string().trim().max(1024),
  Type: z.enum(groupTypes),
  ACLIDs: z.array(z.string()),
  members: z.custom<Members>(),
})
export type GroupForm = z.output<typeof groupFormSchema>

/** The body that creates a group; users of a SAML group come by their claims alone. */
export const toGroupCreate = ({ Type, ACLIDs, members, ...form }: GroupForm): GroupRequest => ({
  ...form,
  Type,
  ACLIDs,
  ...(Type === 'saml' ? {} : { UserIDs: [...members.userIds] }),
})

/** The body that updates a group. A list that wasn't touched is left out: an absent one stays as it is. */
export function toGroupUpdate({ ACLIDs, members, ...form }: GroupForm, group: GroupRow): GroupUpdate {
  const isChanged = (chosen: readonly string[], stored: readonly string[]) => {
    const before = new Set(stored)
    return chosen.length !== before.size || chosen.some((id) => !before.has(id))
  }
  return {
    ID: group.ID,
    Name: form.Name,
    Description: form.Description,
    Type: group.Type,
    ...(isChanged(ACLIDs, group.ACLIDs) ? { ACLIDs } : {}),
    ...(group.Type !== 'saml' && isChanged(members.userIds, group.UserIDs)
      ? { UserIDs: [...members.userIds] }
      : {}),
  }
}
