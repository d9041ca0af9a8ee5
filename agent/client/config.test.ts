import { chmodSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configTemplate, readConfig } from './config.ts'
import { readTokenFile, removeTokenFile, writeTokenFile } from './token-file.ts'

const key = 'a'.repeat(43)
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'knoc-client-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function aFile(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

const withKey = { needsKey: true }
const faultOf = (flags: Parameters<typeof readConfig>[0], env: Record<string, string> = {}) => {
  try {
    readConfig(flags, withKey, env)
    return 'none'
  } catch (error) {
    return (error as Error).message
  }
}

describe('the settings', () => {
  it('come from the command line before the environment before the file', () => {
    const config = aFile(
      'a.json',
      `// mine\n{ "server": "https://file", "waitSeconds": 5, "entries": ["A"] }`,
    )
    const env = { KNOC_SERVER: 'https://env/', KNOC_CLIENT_KEY: key, KNOC_CLIENT_CONFIG: config }
    expect(readConfig({ server: 'https://flag', entry: ['B'] }, withKey, env)).toMatchObject({
      server: new URL('https://flag'),
      key,
      entries: ['B'],
      waitMs: 5_000,
    })
    expect(readConfig({}, withKey, env).server.href).toBe('https://env/')
    expect(readConfig({ config }, withKey, { KNOC_CLIENT_KEY: key }).server.href).toBe('https://file/')
    expect(readConfig({ config, wait: '0' }, withKey, { KNOC_CLIENT_KEY: key }).waitMs).toBe(0)
  })

  it('take the key from a file that is not open to everybody', () => {
    const server = 'https://x'
    for (const mode of [0o600, 0o400, 0o640]) {
      const path = aFile(`key-${mode}`, `${key}\n`, mode)
      expect(readConfig({ server, 'key-file': path }, withKey, {}).key).toBe(key)
    }
    for (const mode of [0o644, 0o606, 0o602]) {
      const fault = faultOf({ server, 'key-file': aFile(`key-${mode}`, key, mode) })
      expect(fault).toMatch(/open to every user of this host; run: chmod 600/)
      expect(fault).not.toContain(key)
    }
    expect(faultOf({ server, 'key-file': join(folder, 'none') })).toMatch(/can’t be read \(ENOENT\)/)
  })

  it('are all listed at once when they can’t be used', () => {
    const fault = faultOf({ server: 'ftp://x', wait: '1.5' }, { KNOC_CLIENT_KEY: 'secret words' })
    expect(fault.split('\n')).toHaveLength(3)
    expect(fault).not.toContain('secret words')
    expect(faultOf({})).toMatch(/no server given[^]*no key given/)
    expect(faultOf({ config: aFile('b.json', '{"sever": "x"}') })).toMatch(/sever/)
    expect(faultOf({ config: aFile('c.json', '{') })).toMatch(/not JSON/)
  })

  it('need no key to sign out', () => {
    expect(readConfig({ server: 'https://x' }, { needsKey: false }, {}).key).toBeUndefined()
  })

  it('are what the template says, as it stands and with its comments opened', () => {
    const read = (text: string) => readConfig({ config: aFile('t.json', text) }, { needsKey: false }, {})
    expect(read(configTemplate)).toMatchObject({
      server: new URL('https://knoc.example.com'),
      waitMs: 30_000,
    })
    const opened = configTemplate.replace('// , "tokenFile"', ', "tokenFile"')
    expect(read(opened).tokenFile).toBe('/run/user/1000/knoc-client-session')
  })
})

describe('a kept token', () => {
  const server = new URL('https://knoc.example')

  it('is for its owner alone, and for its server', () => {
    const path = join(folder, 'token')
    writeTokenFile(path, server, key)
    writeTokenFile(path, server, 'b'.repeat(43))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readTokenFile(path, server)).toBe('b'.repeat(43))
    expect(readTokenFile(path, new URL('https://other.example'))).toBeUndefined()
    removeTokenFile(path)
    expect(readTokenFile(path, server)).toBeUndefined()
  })

  it('follows no link that somebody laid', () => {
    const [target, path] = [aFile('target', 'untouched'), join(folder, 'link')]
    symlinkSync(target, path)
    writeTokenFile(path, server, key)
    expect(statSync(target).size).toBe('untouched'.length)
    expect(readTokenFile(path, server)).toBe(key)
  })
})
