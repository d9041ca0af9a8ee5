import { expect, it } from 'vitest'
import { userCreateSchema } from '#server/users/user.schema.ts'
import { toUserName } from './user-name.ts'

it.each([
  ['Ada Lovelace', 'ada.lovelace'],
  ['  Grace   Brewster Hopper ', 'grace.brewster.hopper'],
  ['Zoë Ærø', 'zoë.ærø'],
  ['', ''],
  ['Tab\tand\u200Bzero width', 'tab.andzero.width'],
])('suggests for %j the user name %j', (name, userName) => {
  expect(toUserName(name)).toBe(userName)
})

it('suggests only what the server takes', () => {
  expect(userCreateSchema.shape.UserName.safeParse(toUserName('Ada  Lovelace\u0007')).success).toBe(true)
})
