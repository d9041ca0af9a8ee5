import { expect, it } from 'vitest'
import { ApiFailure } from '../../api.ts'
import { type FieldPlaces, toFieldFault } from './field-fault.ts'

const places: FieldPlaces<'Name' | 'UserName' | 'Password'> = {
  fields: ['Name', 'UserName', 'Password'],
  renamed: { PlainPassword: 'Password' },
  codes: { 'err.userNameTaken': 'UserName' },
}
const fault = (status: number, code: string, extra?: string) =>
  toFieldFault(new ApiFailure({ status, code, extra }), places)

it('finds the field by the path that the server names, whatever the wire calls it', () => {
  expect(fault(422, 'err.invalidField', 'Name')).toEqual({ field: 'Name', code: 'err.invalidField' })
  expect(fault(422, 'err.invalidField', 'Name.0.x')?.field).toBe('Name')
  expect(fault(422, 'err.passwordLeaked', 'PlainPassword')).toEqual({
    field: 'Password',
    code: 'err.passwordLeaked',
  })
  expect(fault(409, 'err.credentialsRequired', 'PlainPassword')?.field).toBe('Password')
})

it('finds it by the code where there is no path', () => {
  expect(fault(409, 'err.userNameTaken')).toEqual({ field: 'UserName', code: 'err.userNameTaken' })
})

it('leaves to the error dialog what belongs to no field of the form', () => {
  expect(fault(422, 'err.invalidField', 'AclIds.0')).toBeUndefined()
  expect(fault(422, 'err.invalidField')).toBeUndefined()
  expect(fault(409, 'err.changedMeanwhile')).toBeUndefined()
  expect(fault(403, 'err.forbidden', 'Name')).toBeUndefined()
  expect(toFieldFault(new Error('Name'), places)).toBeUndefined()
})
