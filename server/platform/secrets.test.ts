import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readOrCreateMasterKey } from './master-key.ts'
import { Secret } from './secret.ts'
import { createSealer } from './secrets.ts'

const newKey = () => new Secret(randomBytes(32).toString('base64'))
const place = { table: 'users', column: 'totp_secret', id: '7d0f4f1c' }

describe('the sealer', () => {
  const sealer = createSealer(newKey())

  it('gives back what it sealed, and never seals the same twice', () => {
    const sealed = sealer.seal('JBSWY3DPEHPK3PXP', place)
    expect(sealed).not.toContain('JBSWY')
    expect(sealer.open(sealed, place)).toBe('JBSWY3DPEHPK3PXP')
    expect(sealer.seal('JBSWY3DPEHPK3PXP', place)).not.toBe(sealed)
  })

  it.each([
    ['row', { ...place, id: 'admin' }],
    ['column', { ...place, column: 'recovery' }],
    ['table', { ...place, table: 'admins' }],
  ])('refuses a ciphertext that was moved to another %s', (_, elsewhere) => {
    expect(() => sealer.open(sealer.seal('seed', place), elsewhere)).toThrow('was not sealed for this place')
  })

  it('refuses a changed ciphertext, a cut tag, and what is no sealed value at all', () => {
    const [keyId, nonce, text = ''] = sealer.seal('a seed to change', place).split('.')
    const changed = `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`
    expect(() => sealer.open(`${keyId}.${nonce}.${changed}`, place)).toThrow('was changed')
    expect(() => sealer.open(`${keyId}.${nonce}.${text.slice(0, 8)}`, place)).toThrow('not a sealed value')
    expect(() => sealer.open('plain text', place)).toThrow('another master key')
  })

  it('names the master key as the cause when another one sealed the value', () => {
    expect(() => createSealer(newKey()).open(sealer.seal('seed', place), place)).toThrow('another master key')
  })

  it('recognises its own check value only', () => {
    expect(sealer.isCheckValue(sealer.checkValue())).toBe(true)
    expect(createSealer(newKey()).isCheckValue(sealer.checkValue())).toBe(false)
    expect(sealer.isCheckValue('')).toBe(false)
  })

  it('signs differently for each purpose', () => {
    expect(sealer.hmac('device', 'x')).toBe(sealer.hmac('device', 'x'))
    expect(sealer.hmac('device', 'x')).not.toBe(sealer.hmac('nonce', 'x'))
  })
})

describe('the master key of the embedded mode', () => {
  const folder = mkdtempSync(join(tmpdir(), 'knoc-key-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is drawn once, even by two starts at once, and is its owner’s alone', async () => {
    const [one, two] = await Promise.all([readOrCreateMasterKey(folder), readOrCreateMasterKey(folder)])
    expect(one.expose()).toBe(two.expose())
    expect((await readOrCreateMasterKey(folder)).expose()).toBe(one.expose())
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600)
  })

  it('is refused when others may read it', async () => {
    chmodSync(join(folder, 'master.key'), 0o644)
    await expect(readOrCreateMasterKey(folder)).rejects.toThrow('may be read by others')
  })
})
