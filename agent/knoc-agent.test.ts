import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockDataFolder } from './lock.ts'
import { createNamespace, hasKernelSets, type TestNamespace } from './testing/namespace.ts'

const launcher = fileURLToPath(new URL('knoc-agent.mjs', import.meta.url))
const journey = fileURLToPath(new URL('testing/launcher-journey.ts', import.meta.url))
const deviceJourney = fileURLToPath(new URL('testing/device-journey.ts', import.meta.url))
const deno = process.execPath

describe.skipIf(!hasKernelSets())('knoc-agent, as a customer starts it', () => {
  let ns: TestNamespace
  const data = () => `${ns.folder}/data`
  const inside = (file: string, ...args: string[]) =>
    spawnSync('ip', ['netns', 'exec', ns.name, file, ...args], {
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...process.env, KNOC_SERVER: '', NO_COLOR: '1' },
    })
  const agent = (...args: string[]) => inside(launcher, ...args)

  beforeAll(() => {
    ns = createNamespace()
    execFileSync('ip', ['-n', ns.name, 'link', 'set', 'lo', 'up'])
    ns.run('create', 'four', 'hash:ip', 'family', 'inet', 'timeout', '0')
    mkdirSync(data(), { mode: 0o755 })
    mkdirSync(`${ns.folder}/scripts`)
    writeFileSync(`${ns.folder}/scripts/door`, `#!/bin/sh\necho "$@" >> ${ns.folder}/told\n`)
    chmodSync(`${ns.folder}/scripts/door`, 0o755)
    writeFileSync(
      `${data()}/agent.json`,
      JSON.stringify({ scripts: true, scriptFolder: `${ns.folder}/scripts` }),
    )
  })
  afterAll(() => ns.remove())

  it('opens and closes with the narrow rights it gives itself, and stops on SIGTERM', () => {
    const { stdout, stderr } = inside(deno, 'run', '-A', journey, launcher, data())
    const seen = JSON.parse(stdout || '{}')
    expect(seen.outcomes, `${seen.said ?? ''}${stderr}`).toEqual([
      'verified',
      null,
      'reported',
      null,
      'verified',
      null,
      'verified',
      null,
    ])
    expect(seen, seen.said).toMatchObject({ code: 0, signal: null })
    expect([...ns.entries('four').keys()]).toEqual(['192.0.2.7'])
    expect(readFileSync(`${ns.folder}/told`, 'utf8')).toBe('add ssh 192.0.2.7\n')
    expect(seen.hello.capabilities).toMatchObject({
      ipset: { privilege: 'root', ipsets: [{ name: 'four', timeouts: true, references: 0, cut: 'none' }] },
      script: { enabled: true, commands: ['door'] },
    })
    expect(seen.said).not.toContain('a-token-of')
    expect(seen.said).not.toMatch(/NotCapable|Requires/)
  })

  it('reaches no device but those the server has named, and starts again for a new one', () => {
    const folder = `${ns.folder}/devices`
    mkdirSync(folder, { mode: 0o700 })
    const { stdout, stderr } = inside(deno, 'run', '-A', deviceJourney, launcher, folder)
    const seen = JSON.parse(stdout || '{}')
    expect(seen.fault, `${seen.said ?? ''}${stderr}`).toBeUndefined()
    expect(seen, seen.said).toMatchObject({ answers: ['notAllowed', null], calls: 1, hellos: 2, code: 0 })
    expect(seen.said).not.toMatch(/NotCapable|Requires/)
    expect(JSON.parse(readFileSync(`${folder}/devices.json`, 'utf8'))).toEqual([
      expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    ])
  })

  it('keeps its folder and keys to itself', () => {
    expect(statSync(data()).mode & 0o777).toBe(0o700)
    for (const name of ['agent-key.pem', 'sealing-key.pem', 'identity.json', 'sets.json']) {
      expect(statSync(`${data()}/${name}`).mode & 0o077, name).toBe(0)
    }
  })

  it('sets makes every managed set again, empty, without network or server', () => {
    ns.run('destroy', 'four')
    expect(agent('sets', '--data', data())).toMatchObject({ status: 0, stdout: '1 managed sets\n' })
    expect(ns.run('list', 'four', '-t')).toContain('timeout 0')
    expect(ns.entries('four').size).toBe(0)
    expect(agent('sets', '--data', data()).status).toBe(0)
    expect(agent('sets', '--forget', 'none', '--data', data()).status).toBe(1)
  })

  it('status tells who it is and what it holds, and fails while no agent runs', () => {
    const { status, stdout } = agent('status', '--data', data())
    expect(status).toBe(1)
    expect(stdout).toMatch(/running +no/)
    expect(stdout).toMatch(/ipset:four +1 open/)
  })

  it('doctor says that a set protects nothing, and the rule to use; and is content once there is one', () => {
    const wrong = agent('doctor', '--data', data())
    expect(wrong.status).toBe(1)
    expect(wrong.stdout).toMatch(/WRONG set four is used by no rule/)
    expect(wrong.stdout).toMatch(
      /→ iptables -I INPUT 1 .*--match-set four src -j REJECT --reject-with tcp-reset/,
    )
    inside(
      'iptables',
      '-I',
      'INPUT',
      '1',
      '-p',
      'tcp',
      '--dport',
      '22',
      '-m',
      'set',
      '!',
      '--match-set',
      'four',
      'src',
      '-j',
      'DROP',
    )
    const right = agent('doctor', '--data', data())
    expect(right.stdout).toMatch(/ok +set four: inet, timeouts, 1 references\n/)
    expect(right.stdout).toMatch(
      /ok +set four, INPUT tcp 22: a revoke cuts at the next packet, by the rules; .*ss -K ends it/,
    )
    expect(right.status).toBe(0)
  })

  it('doctor says what ends connections when the rule for established ones comes first, and which rule to add', () => {
    inside('iptables', ...'-I INPUT 1 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT'.split(' '))
    inside('iptables-legacy', ...'-A INPUT -p tcp --dport 9 -j DROP'.split(' '))
    const { stdout, status } = agent('doctor', '--data', data())
    expect(stdout).toMatch(
      /ok +set four, INPUT tcp 22: a revoke ends talking and silent flows by ss -K, though rule 1 of INPUT accepts them/,
    )
    expect(stdout).toMatch(
      /→ surer, by the rules alone: iptables -I INPUT 1 -p tcp --dport 22 -m set ! --match-set four src -j REJECT/,
    )
    expect(stdout).toMatch(/ok +rules stand in iptables \(nf_tables\) and in iptables-legacy/)
    expect(status).toBe(0)
  })

  it('refuses a data folder that another agent has', () => {
    const unlock = lockDataFolder(data())
    const { status, stderr } = agent('run', '--server', 'http://127.0.0.1:1', '--data', data())
    expect(status).toBe(1)
    expect(stderr).toContain('another agent uses')
    unlock?.()
    expect(lockDataFolder(data())).toBeTypeOf('function')
  })

  it.each([
    [['--help'], 0, /Usage:/],
    [['run', '--help'], 0, /--token TOKEN/],
    [['status', '--help'], 0, /--data DIR/],
    [['doctor', '--help'], 0, /--data DIR/],
    [['sets', '--help'], 0, /--forget NAME/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    [[], 2, /say what to do/],
    [['fly'], 2, /no command "fly"/],
    [['run', '--wings'], 2, /Unknown option '--wings'/],
    [['status', '--server', 'https://x'], 2, /takes no --server/],
    [['run', '--server', 'ftp://x'], 2, /must be http\(s\)/],
    [['run'], 2, /no server given/],
  ])('answers %j with exit code %d', (args, code, text) => {
    const { status, stdout, stderr } = agent(...args, ...(args[0] === 'run' ? ['--data', data()] : []))
    expect(stdout + stderr).toMatch(text)
    expect(status).toBe(code)
  })
})
