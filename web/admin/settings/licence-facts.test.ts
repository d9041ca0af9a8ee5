import { expect, it } from 'vitest'
import { licenceFacts } from './licence-facts.ts'

const licence = {
  Licensed: true,
  ID: 'l',
  UserLimit: 10,
  SessionLimit: null,
  MaxMachines: null,
  MachineCount: 1,
  Expires: '2026-12-01T12:00:00Z',
}
const now = Date.parse('2026-11-21T13:00:00Z')

it('counts whole days to the end, never below none', () => {
  expect(licenceFacts(licence, { UserCount: 10 }, now).days).toBe(9)
  expect(licenceFacts({ ...licence, Expires: '2026-01-01T00:00:00Z' }, { UserCount: 10 }, now).days).toBe(0)
  expect(licenceFacts({ ...licence, Expires: null }, { UserCount: 10 }, now).days).toBeNull()
})

it('is over its limit only above it, and never without one', () => {
  expect(licenceFacts(licence, { UserCount: 10 }, now).isOverLimit).toBe(false)
  expect(licenceFacts(licence, { UserCount: 11 }, now).isOverLimit).toBe(true)
  expect(licenceFacts({ ...licence, UserLimit: null }, { UserCount: 11 }, now).isOverLimit).toBe(false)
})
