import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openDeviceRights } from './devices.ts'
import { quietLog } from './testing/builders.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/knoc-devices-`)
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (granted: string[] | undefined, isFixed = false) =>
  openDeviceRights({ path: `${folder}/devices.json`, granted, isFixed, log: quietLog })
const noted = () => JSON.parse(readFileSync(`${folder}/devices.json`, 'utf8'))
const wantsStart = (rights: ReturnType<typeof open>) =>
  Promise.race([rights.restart, new Promise((resolve) => setTimeout(() => resolve('goes on'), 400))])

it('a device that was granted is reached; without a launcher every one is', async () => {
  const rights = open(['fw.test:443', '[2001:db8::1]:8443'])
  expect([rights.check('FW.test'), rights.check('fw.test:443'), rights.check('[2001:db8::1]:8443')]).toEqual([
    null,
    null,
    null,
  ])
  expect(open(undefined).check('anything.test')).toBeNull()
  expect(await wantsStart(rights)).toBe('goes on')
})

it('new ones are noted beside those before, for one start', async () => {
  writeFileSync(`${folder}/devices.json`, '["fw.test:443"]')
  const rights = open(['fw.test:443'])
  expect(rights.check('new.test')?.text).toContain('starts again')
  expect(rights.check('other.test:8443')?.text).toContain('starts again')
  expect(rights.check('new.test')?.text).toContain('starts again')
  expect(await wantsStart(rights)).toBe('restart')
  expect(noted()).toEqual(['fw.test:443', 'new.test:443', 'other.test:8443'])
})

it('one that was noted and is still not granted is refused, and starts nothing over and over', async () => {
  writeFileSync(`${folder}/devices.json`, '["fw.test:443"]')
  const rights = open([])
  expect(rights.check('fw.test')).toEqual({
    code: 'notAllowed',
    text: expect.stringContaining('gives no right'),
  })
  expect(await wantsStart(rights)).toBe('goes on')
})

it('where the host’s configuration names the devices, the server adds none', async () => {
  const rights = open(['fw.test:443'], true)
  expect(rights.check('fw.test')).toBeNull()
  expect(rights.check('new.test')).toEqual({
    code: 'notAllowed',
    text: expect.stringContaining('agent.json'),
  })
  expect(await wantsStart(rights)).toBe('goes on')
  expect(noted).toThrow()
})

it('a damaged note is written anew', async () => {
  writeFileSync(`${folder}/devices.json`, '{"fw')
  const rights = open([])
  rights.check('fw.test')
  expect(await wantsStart(rights)).toBe('restart')
  expect(noted()).toEqual(['fw.test:443'])
})
