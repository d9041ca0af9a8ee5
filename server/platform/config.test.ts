import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { configVariables, readConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'knoc-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const masterKey = randomBytes(32).toString('base64')

function faultsOf(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

const compareText = (one = '', two = '') => one.localeCompare(two)

describe('the configuration', () => {
  it('needs nothing: an empty environment gives the embedded server on port 8080', () => {
    expect(readConfig({})).toMatchObject({
      host: '::',
      port: 8080,
      publicUrl: 'http://localhost:8080',
      databaseUrl: undefined,
      listener: 'node',
      trustedProxies: [],
      grantLoopback: false,
    })
  })

  it('counts an empty variable as unset and is frozen', () => {
    const config = readConfig({ KNOC_PORT: '', DATABASE_URL: ' ' })
    expect(config.port).toBe(8080)
    expect(config.databaseUrl).toBeUndefined()
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.trustedProxies)).toBe(true)
  })

  it('lists all faults at once, each with the variable, what is wrong and what is accepted', () => {
    const lines = faultsOf({
      KNOC_PORT: '80800',
      KNOC_HOST: 'example',
      KNOC_PUBLIC_URL: 'http://knoc.example.com',
      KNOC_TRUSTED_PROXIES: '10.0.0.1, 0.0.0.0/0',
      KNOC_LISTENER: 'bun',
      DATABASE_URL: 'postgres://u:hunter2@db/knoc',
      KNOC_ADMIN_PASSWORD: 'short',
      KNOC_GRANT_LOOPBACK: 'true',
      KNOC_LICENCE_PUBLIC_KEY: 'AAAA',
      REDIS_URL: 'http://cache',
    }).split('\n')
    const named = lines.slice(1).map((line) => line.trim().split(' ')[0])
    expect(named.sort(compareText)).toEqual(
      [
        'DATABASE_URL',
        'KNOC_ADMIN_PASSWORD',
        'KNOC_ADMIN_USERNAME',
        'KNOC_GRANT_LOOPBACK',
        'KNOC_HOST',
        'KNOC_LICENCE_PUBLIC_KEY',
        'KNOC_LISTENER',
        'KNOC_MASTER_KEY',
        'KNOC_PORT',
        'KNOC_PUBLIC_URL',
        'KNOC_TRUSTED_PROXIES',
        'REDIS_URL',
      ].filter((name) => name !== 'DATABASE_URL'),
    )
    expect(lines.slice(1).every((line) => line.includes('; accepted: '))).toBe(true)
    expect(lines.join()).not.toContain('hunter2')
  })

  it.each([
    ['http on loopback', { KNOC_PUBLIC_URL: 'http://127.0.0.1:9000' }, ''],
    ['http on IPv6 loopback', { KNOC_PUBLIC_URL: 'http://[::1]:9000' }, ''],
    ['http elsewhere', { KNOC_PUBLIC_URL: 'http://10.1.1.1' }, 'KNOC_PUBLIC_URL is plain http'],
    ['http elsewhere, insisted on', { KNOC_PUBLIC_URL: 'http://10.1.1.1', KNOC_ALLOW_HTTP: 'true' }, ''],
    ['https elsewhere', { KNOC_PUBLIC_URL: 'https://knoc.example.com/' }, ''],
    ['a path in the public URL', { KNOC_PUBLIC_URL: 'https://example.com/knoc' }, 'has a path'],
    ['another scheme', { KNOC_PUBLIC_URL: 'ftp://example.com' }, 'is not such a URL'],
    [
      'an external database without the key',
      { DATABASE_URL: 'postgres://db/knoc' },
      'KNOC_MASTER_KEY is missing',
    ],
    [
      'an external database with the key',
      { DATABASE_URL: 'postgres://db/knoc', KNOC_MASTER_KEY: masterKey },
      '',
    ],
    ['a key of 16 bytes', { KNOC_MASTER_KEY: randomBytes(16).toString('base64') }, 'is not 32 bytes'],
    ['loopback grants on a public address', { KNOC_GRANT_LOOPBACK: '1' }, 'KNOC_HOST is not a loopback'],
    ['loopback grants on loopback', { KNOC_GRANT_LOOPBACK: '1', KNOC_HOST: '127.0.0.1' }, ''],
    ['a replica name with a colon', { KNOC_REPLICA: 'a:b' }, 'is no replica name'],
    ['proxies of both families', { KNOC_TRUSTED_PROXIES: '10.0.0.0/8, fd00::1' }, ''],
    ['a proxy by name', { KNOC_TRUSTED_PROXIES: 'proxy.local' }, 'no address or CIDR'],
    ['half of the first admin', { KNOC_ADMIN_USERNAME: 'root' }, 'only of use together'],
  ])('judges %s', (_, env, fault) => {
    const message = faultsOf(env)
    if (fault === '') expect(message).toBe('')
    else expect(message).toContain(fault)
  })

  it('reads secrets from files, and refuses both forms at once and a file that is not there', () => {
    const path = join(folder, 'password')
    writeFileSync(path, 'correct horse\n')
    const config = readConfig({ KNOC_ADMIN_USERNAME: 'root', KNOC_ADMIN_PASSWORD_FILE: path })
    expect(config.adminPassword?.expose()).toBe('correct horse')
    expect(faultsOf({ KNOC_MASTER_KEY: masterKey, KNOC_MASTER_KEY_FILE: path })).toContain(
      'and so is KNOC_MASTER_KEY_FILE',
    )
    expect(faultsOf({ REDIS_URL_FILE: join(folder, 'none') })).toContain(
      'REDIS_URL_FILE names a file that cannot be read (ENOENT)',
    )
  })

  it('takes the licence key as PEM, as PEM on one line and as base64', () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const pem = publicKey.export({ format: 'pem', type: 'spki' })
    const der = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
    for (const value of [pem, pem.replaceAll('\n', '\\n'), der])
      expect(readConfig({ KNOC_LICENCE_PUBLIC_KEY: value }).licencePublicKey).toBe(pem)
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
    expect(faultsOf({ KNOC_LICENCE_PUBLIC_KEY: rsa.export({ format: 'pem', type: 'spki' }) })).toContain(
      'Ed25519',
    )
  })

  it('never shows a secret when printed', () => {
    const config = readConfig({ DATABASE_URL: 'postgres://u:hunter2@db/knoc', KNOC_MASTER_KEY: masterKey })
    const shown = `${inspect(config)} ${JSON.stringify(config)} ${String(config.databaseUrl)}`
    expect(shown).not.toContain('hunter2')
    expect(shown).not.toContain(masterKey)
    expect(shown).toContain('«secret»')
  })

  it('keeps the name of an embedded replica over restarts and draws one for each start of a cluster’s', () => {
    const cluster = { DATABASE_URL: 'postgres://db/knoc', KNOC_MASTER_KEY: masterKey }
    expect(readConfig({}).replica).toBe(readConfig({}).replica)
    expect(readConfig({ KNOC_DATA_DIR: '/elsewhere' }).replica).not.toBe(readConfig({}).replica)
    expect(readConfig(cluster).replica).not.toBe(readConfig(cluster).replica)
  })

  it('describes every variable with its default', () => {
    const port = configVariables.find(({ name }) => name === 'KNOC_PORT')
    expect(port).toMatchObject({ default: '8080', accepted: expect.stringContaining('65535') })
    expect(configVariables.map(({ name }) => name)).toContain('DATABASE_URL_FILE')
    expect(configVariables.every(({ description }) => description.length > 10)).toBe(true)
  })
})
