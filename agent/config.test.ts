import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'
import { openIdentity, readMachineId } from './identity.ts'

const folder = mkdtempSync(`${tmpdir()}/knoc-config-`)
afterAll(() => rmSync(folder, { recursive: true }))
const agentJson = (value: unknown) => writeFileSync(`${folder}/agent.json`, JSON.stringify(value))

describe('the agent’s settings', () => {
  it('take flags before the environment before agent.json, and allow no scripts by themselves', () => {
    agentJson({ server: 'https://file.example' })
    const env = { KNOC_AGENT_DATA: folder, KNOC_SERVER: 'https://env.example', KNOC_AGENT_TOKEN: 'from-env' }
    expect(readConfig({ server: 'https://flag.example/path', token: 'flag' }, env)).toMatchObject({
      server: new URL('https://flag.example'),
      token: 'flag',
      isTokenVisible: true,
      scriptFolder: undefined,
    })
    expect(readConfig({}, env)).toMatchObject({
      server: new URL('https://env.example'),
      isTokenVisible: false,
    })
    expect(readConfig({ data: folder }, {}).server?.href).toBe('https://file.example/')
  })

  it('read the token from a file, without the newline that editors add', () => {
    agentJson({})
    writeFileSync(`${folder}/token`, 'secret\n')
    expect(readConfig({ data: folder }, { KNOC_AGENT_TOKEN_FILE: `${folder}/token` }).token).toBe('secret')
  })

  it.each([
    [{ scripts: 'yes' }, {}, /agent.json is not usable/],
    [{ wings: true }, {}, /agent.json is not usable/],
    [{ haproxyAddresses: ['/run/h.sock;show info'] }, {}, /agent.json is not usable/],
    [{ managedSets: [{ name: 'a b', family: 'inet' }] }, {}, /agent.json is not usable/],
    [{}, { KNOC_SERVER: 'https://user:secret@host' }, /must be http/],
    [{}, { KNOC_AGENT_TOKEN_FILE: '/nowhere' }, /cannot be read \(ENOENT\)/],
    [{}, { KNOC_AGENT_CA: '/nowhere' }, /the CA file cannot be read/],
  ])('refuse %j with %j', (file, env, fault) => {
    agentJson(file)
    expect(() => readConfig({ data: folder }, env)).toThrow(fault)
    expect(() => readConfig({ data: folder }, env)).not.toThrow(/secret/)
  })
})

describe('the agent’s identity', () => {
  const open = (over: { serverName?: string } = {}) =>
    openIdentity({
      dataFolder: `${folder}/data`,
      machineIdFile: '/etc/machine-id',
      serverOrigin: 'https://knoc.example',
      serverName: over.serverName,
    })

  it('lasts over restarts, is nobody else’s to read, and differs by host, not by folder', () => {
    const first = open()
    expect(open().publicKey).toBe(first.publicKey)
    expect(statSync(`${folder}/data/agent-key.pem`).mode & 0o777).toBe(0o600)
    writeFileSync(`${folder}/other-host`, 'ffffffffffffffffffffffffffffffff\n')
    expect(readMachineId(`${folder}/other-host`)).not.toBe(first.machineId)
    expect(first.machineId).toMatch(/^[0-9a-f]{64}$/)
  })

  it('signs only for the server it knows: by its origin, by its name of before, or by one that was allowed', () => {
    const id = open()
    id.noteEnrolled('6f9619ff-8b86-4011-b42d-00c04fc964ff')
    id.linkHeaders({ nonce: 'n', serverName: 'https://knoc-behind-a-proxy.example' })
    expect(() => open().linkHeaders({ nonce: 'n', serverName: 'https://evil.example' })).toThrow(
      /calls itself/,
    )
    open({ serverName: 'https://new.example' }).linkHeaders({ nonce: 'n', serverName: 'https://new.example' })
    open().linkHeaders({ nonce: 'n', serverName: 'https://knoc.example' })
  })

  it('is not replaced in silence when a key file is damaged', () => {
    writeFileSync(`${folder}/data/sealing-key.pem`, 'nothing')
    expect(open).toThrow()
  })
})
