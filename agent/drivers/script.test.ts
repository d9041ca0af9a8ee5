import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ipsetTarget } from '../testing/builders.ts'
import { listScripts, scriptDriver } from './script.ts'

const root = mkdtempSync(`${tmpdir()}/knoc-script-`)
const folder = `${root}/scripts`
const entry = { address: '2001:db8::7', userName: 'erika', timeoutSeconds: 60 }

const put = (path: string, body: string, mode = 0o755) => {
  writeFileSync(path, `#!/bin/sh\n${body}\n`)
  chmodSync(path, mode)
}
/** What opens, by field, as the agent's own key would open it. */
const sealedValues: Record<string, string> = { 'list.EnvVars.OPENS': 'from a sealed box' }

const driver = (
  command: string,
  variables: Record<string, unknown> = {},
  scriptFolder: string | undefined = folder,
) =>
  scriptDriver(
    { folder: scriptFolder, timeoutMs: 500, unseal: (_target, field) => sealedValues[field] },
    ipsetTarget('', 4, {
      type: 'script',
      family: null,
      backend: {
        Command: command,
        EnvVars: Object.keys(variables).map((Name) => ({ Name, Sensitive: false })),
      },
      list: { Name: 'ssh', EnvVars: variables },
    }),
  )
const codeOf = async (one: ReturnType<typeof driver>) => (await one.open([entry]))[0]?.error?.code

describe('the script driver', () => {
  beforeAll(() => {
    mkdirSync(folder)
    put(`${folder}/env`, `env > ${root}/env; echo "$@" > ${root}/args`)
    put(`${folder}/fails`, 'echo first >&2; echo "the door is stuck" >&2; exit 3')
    put(`${folder}/hangs`, 'sleep 20')
    put(`${folder}/open-to-all`, 'true', 0o777)
    put(`${folder}/plain`, 'true', 0o644)
    put(`${root}/outside`, 'true')
    symlinkSync(`${root}/outside`, `${folder}/link`)
    mkdirSync(`${folder}/sub`)
  })
  afterAll(() => rmSync(root, { recursive: true }))

  it('gives arguments and variables, the agent’s own environment not, and reports', async () => {
    const one = driver('env', {
      REGION: { Value: 'eu; rm -rf /', Encrypted: false },
      OPENS: { Value: '', Encrypted: true },
    })
    expect(await one.open([entry])).toEqual([{ address: entry.address, outcome: 'reported', error: null }])
    expect(readFileSync(`${root}/args`, 'utf8')).toBe('add ssh 2001:db8::7\n')
    const env = Object.fromEntries(
      readFileSync(`${root}/env`, 'utf8')
        .split('\n')
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    )
    expect(env).toMatchObject({
      knoc_action: 'add',
      knoc_aclname: 'ssh',
      knoc_username: 'erika',
      knoc_cidr: '2001:db8::7/128',
      knoc_ipaddr: '2001:db8::7',
      REGION: 'eu; rm -rf /',
      OPENS: 'from a sealed box',
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    })
    expect(Object.keys(env)).not.toContain('HOME')
    expect(await one.empty()).toBeNull()
    expect(readFileSync(`${root}/args`, 'utf8')).toBe('flush ssh\n')
  })

  it('gives the administrator the last line of what failed', async () => {
    expect((await driver('fails').close([entry]))[0]?.error).toEqual({
      code: 'scriptFailed',
      text: 'the door is stuck',
    })
  })

  it('ends a script that takes too long, with whatever it started still running', async () => {
    const startedAt = performance.now()
    expect(await codeOf(driver('hangs'))).toBe('timeout')
    expect(performance.now() - startedAt).toBeLessThan(3_000)
  })

  it.each([
    ['../outside', 'scriptNotAllowed'],
    ['/bin/sh', 'scriptNotAllowed'],
    ['link', 'scriptNotAllowed'],
    ['sub', 'scriptNotAllowed'],
    ['plain', 'scriptNotAllowed'],
    ['open-to-all', 'scriptNotAllowed'],
    ['missing', 'scriptNotAllowed'],
    ['env -i', 'scriptNotAllowed'],
    ['env\0', 'scriptNotAllowed'],
  ])('refuses the command %j', async (command, code) => {
    expect(await codeOf(driver(command))).toBe(code)
  })

  it('refuses everything while scripts are off, and what names loaders or holds sealed values', async () => {
    const off = scriptDriver(
      { folder: undefined, timeoutMs: 500, unseal: () => undefined },
      ipsetTarget('', 4, { backend: { Command: 'env', EnvVars: [] }, list: { Name: 'ssh', EnvVars: {} } }),
    )
    expect(await codeOf(off)).toBe('scriptsOff')
    expect(await codeOf(driver('env', { LD_PRELOAD: { Value: 'x', Encrypted: false } }))).toBe('badTarget')
    expect(await codeOf(driver('env', { knoc_action: { Value: 'x', Encrypted: false } }))).toBe('badTarget')
    expect(await codeOf(driver('env', { KEY: { Value: '', Encrypted: true } }))).toBe('needsCredentials')
  })

  it('offers only what may be run', () => {
    expect(listScripts(folder)).toEqual(['env', 'fails', 'hangs'])
    expect(listScripts(undefined)).toEqual([])
  })
})
