import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aCertificate } from '#tests/support/certificate.ts'
import { requireProgram } from '#tests/support/debian.ts'
import { startProgram } from '#tests/support/process.ts'

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const launcher = root('agent/knoc-client.mjs')
const key = 'k'.repeat(43)
/** Nobody listens on the port of tcpmux. */
const nobody = 'http://127.0.0.1:1'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'knoc-client-cli-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const client = (args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(launcher, args, {
    encoding: 'utf8',
    timeout: 60_000,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
  })

describe('knoc-client', { timeout: 60_000 }, () => {
  it.each([
    [['--help'], 0, /Usage:[^]*Exit codes: 0 /],
    [['--persist', '-h'], 0, /Usage:/],
    [['config', '--help'], 0, /--out FILE/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    [['config'], 0, /"server": "https:/],
    [[], 2, /no server given[^]*no key given[^]*Try: knoc-client --help/],
    [['fly'], 2, /there is no command "fly"/],
    [['config', 'me'], 2, /"me" is one word too many/],
    [['--wings'], 2, /Unknown option '--wings'/],
    [['--key', key], 2, /Unknown option '--key'/],
    [['--server', 'ftp://x'], 2, /must be http\(s\)/],
    [['--persist', '--wait', '3'], 2, /--wait doesn’t go with --persist/],
    [['--server', nobody, '--logout'], 2, /--logout needs --token-file/],
    [['--server', nobody, '--key-file', '/etc/passwd'], 2, /open to every user of this host/],
    [['--config', '/nowhere/at-all.json'], 2, /can’t be read \(ENOENT\)/],
  ])('answers %j with exit code %i', (args, code, text) => {
    const { status, stdout, stderr } = client(args)
    expect(stdout + stderr).toMatch(text)
    expect(status).toBe(code)
    expect(stderr).not.toMatch(/NotCapable|Requires \w+ access/)
  })

  it('writes a config file once, and reads it with its comments', () => {
    const path = join(folder, 'config.json')
    expect(client(['config', '--out', path]).status).toBe(0)
    expect(client(['config', '--out', path])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('already'),
    })
    writeFileSync(path, readFileSync(path, 'utf8').replace('https://knoc.example.com', nobody))
    const { status, stderr } = client(['--config', path, '--wait', '0'], { KNOC_CLIENT_KEY: key })
    expect([status, stderr]).toEqual([5, expect.stringContaining('ECONNREFUSED')])
  })

  it('gets the network as far as its server, the files it was named, and no program', async () => {
    const program = startProgram([launcher, '--persist', '--server', nobody], {
      KNOC_CLIENT_KEY: key,
      HOME: folder,
    })
    try {
      await program.said(/can’t be reached/)
      const flags = commandLineOfChild(program.pid)
      expect(flags).toContain('--allow-net=127.0.0.1:1')
      expect(flags).toContain('--allow-sys=networkInterfaces')
      expect(flags.filter((flag) => /^(-A$|--allow-(all|run|write|ffi|import))/.test(flag))).toEqual([])
      expect(flags.join(' ')).not.toContain(key)
    } finally {
      process.kill(program.pid, 'SIGTERM')
    }
    expect(await program.ended).toBe(0)
  })

  it.skipIf(!requireProgram('openssl'))(
    'speaks to a server only whose certificate it knows, by --ca its own authority’s',
    async () => {
      const { certificate, key: privateKey, authority } = aCertificate(folder, 'IP:127.0.0.1')
      const asked: (string | undefined)[] = []
      const server = createServer(
        { cert: readFileSync(certificate), key: readFileSync(privateKey) },
        (request, response) => {
          asked.push(request.headers.authorization)
          response.statusCode = 401
          response.end('{"Err":"err.invalidApiKey"}')
        },
      )
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const run = (...args: string[]) =>
        startProgram([launcher, '--server', `https://127.0.0.1:${port}`, '--wait', '0', ...args], {
          KNOC_CLIENT_KEY: key,
          HOME: folder,
        })
      try {
        expect(await run().ended).toBe(5)
        expect(asked).toEqual([])
        expect(await run('--ca', authority).ended).toBe(3)
        expect(asked).toEqual([`Bearer ${key}`])
      } finally {
        server.close()
      }
    },
  )

  it('has a systemd unit that systemd understands and that leaves it little', () => {
    const unit = readFileSync(root('deploy/client/knoc-client.service'), 'utf8')
    for (const line of [
      'DynamicUser=yes',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'CapabilityBoundingSet=',
    ])
      expect(unit).toMatch(new RegExp(`^${line}$`, 'm'))
    expect(unit).toContain('LoadCredential=key:')
    if (!existsSync('/usr/bin/systemd-analyze')) return
    const path = join(folder, 'knoc-client.service')
    writeFileSync(path, unit.replace('/usr/local/bin/knoc-client', launcher))
    const { stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' })
    expect(stderr.split('\n').filter((line) => line.includes('knoc-client.service'))).toEqual([])
  })
})

/** The arguments of the process that a launcher started. */
function commandLineOfChild(pid: number): string[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
  expect(children).toHaveLength(1)
  return readFileSync(`/proc/${children[0]}/cmdline`, 'utf8').split('\0')
}

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return 0
  }
}
