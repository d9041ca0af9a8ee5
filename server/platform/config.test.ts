import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { aCertificate } from '#tests/support/certificate.ts'
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
    ['a name for each family', { KNOC_IPV4_HOST: 'v4.knoc.example', KNOC_IPV6_HOST: 'fd00::1' }, ''],
    ['an IPv6 address as IPv4', { KNOC_IPV4_HOST: 'fd00::1' }, 'KNOC_IPV4_HOST is no such host'],
    ['a host with a port', { KNOC_IPV6_HOST: 'v6.knoc.example:8080' }, 'KNOC_IPV6_HOST is no such host'],
    ['one name for both', { KNOC_IPV4_HOST: 'a.example', KNOC_IPV6_HOST: 'A.example' }, 'is the same as'],
    ['half of a certificate', { KNOC_TLS_KEY_FILE: '/dev/null' }, 'only of use together'],
    ['a certificate that is none', { KNOC_TLS_CERT_FILE: '/dev/null' }, 'holds no certificate in PEM'],
    ['a key that is not there', { KNOC_TLS_KEY_FILE: '/no/key' }, 'cannot be read (ENOENT)'],
    ['TLS for somebody else', { KNOC_TLS_FOR: 'console' }, 'KNOC_TLS_FOR is neither'],
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

  describe('lookup ports', () => {
    const portsOf = (value: string) => readConfig({ KNOC_LOOKUP_PORTS: value }).lookupPorts

    it('are 443, 222, 3389 and 8000 where nothing is said', () => {
      expect(readConfig({}).lookupPorts.map(({ port, at }) => [port, at])).toEqual([
        [443, 443],
        [222, 222],
        [3389, 3389],
        [8000, 8000],
      ])
    })

    it('can each be moved or switched off; one that is not named is off', () => {
      expect(portsOf('443=8443, 222=off,3389')).toEqual([
        { port: 443, at: 8443 },
        { port: 3389, at: 3389 },
      ])
      expect(portsOf('443=off')).toEqual([])
      expect(portsOf('443=222,222=443')).toHaveLength(2)
    })

    it.each([
      ['443;222', ['holds something that is no port']],
      ['443,', ['holds something that is no port']],
      ['443=', ['holds something that is no port']],
      ['0443=+1', ['holds something that is no port']],
      ['80', ['knows no lookup port 80']],
      ['443,443=8443', ['names port 443 twice']],
      ['443=0,222=70000', ['moves port 443 to where', 'moves port 222 to where']],
      ['443=222,222', ['uses 222 twice']],
      ['21=off,x,443=99999', ['knows no lookup port 21', 'no port;', 'moves port 443']],
    ])('refuses %s, and says all that is wrong', (value, faults) => {
      const lines = faultsOf({ KNOC_LOOKUP_PORTS: value }).split('\n').slice(1)
      expect(lines).toHaveLength(faults.length)
      for (const [index, fault] of faults.entries()) expect(lines[index]).toContain(fault)
    })
  })

  describe('a certificate', () => {
    const [one, two] = ['one', 'two'].map((name) => {
      const own = join(folder, name)
      mkdirSync(own)
      const { certificate, key } = aCertificate(own, 'DNS:knoc.example')
      return { KNOC_TLS_CERT_FILE: certificate, KNOC_TLS_KEY_FILE: key }
    })

    it('is for everything, or for the lookup ports alone', () => {
      const all = readConfig({ ...one })
      expect(all).toMatchObject({ isTlsForAll: true, publicUrl: 'https://localhost:8080' })
      expect(all.tls).toEqual({ certificateFile: one?.KNOC_TLS_CERT_FILE, keyFile: one?.KNOC_TLS_KEY_FILE })
      const lookup = readConfig({ ...one, KNOC_TLS_FOR: 'lookup', KNOC_PUBLIC_URL: 'https://knoc.example' })
      expect(lookup.isTlsForAll).toBe(false)
      expect(readConfig({})).toMatchObject({ tls: undefined, isTlsForAll: false })
    })

    it('needs its own key, an https public URL, and the listener that speaks it', () => {
      const mixed = { ...one, KNOC_TLS_KEY_FILE: two?.KNOC_TLS_KEY_FILE ?? '' }
      expect(faultsOf({ ...mixed })).toContain('KNOC_TLS_KEY_FILE names a key that is not the one')
      expect(faultsOf({ ...one, KNOC_PUBLIC_URL: 'http://localhost' })).toContain('is plain http')
      expect(faultsOf({ ...one, KNOC_LISTENER: 'deno' })).toContain('KNOC_TLS_FOR is all')
      expect(faultsOf({ ...one, KNOC_LISTENER: 'deno', KNOC_TLS_FOR: 'lookup' })).toBe('')
    })
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
