import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { runLicenceCommand } from '#server/cli/licence.ts'
import { createAuditor } from '#server/entries/auditor.ts'
import { createRights } from '#server/entries/create-rights.ts'
import type { KnocCreated } from '#server/knocs/knoc.schema.ts'
import { createLog } from '#server/platform/log.ts'
import type { AclStatus, UserStatus } from '#server/status/status.schema.ts'
import { createApiClient } from '../../deploy/demo/api-client.ts'
import { run } from '../../deploy/demo/run.ts'
import { waitForAgent } from '../../deploy/demo/seed.ts'
import { doorName, readReference } from './door-reference.ts'
import { aHost } from './host.ts'
import { startProgram, type TestProcess } from './process.ts'
import { aSite, serverPort, urlOf } from './site.ts'
import { until } from './until.ts'

const password = 'a password of tests 1'

/** Sets of each agent's host. */
const sets = { four: ['a4', 'b4'], six: ['a6', 'b6'] } as const

/** Where people are. Ada and Bob share `home`; `home` alone is a private address. */
export const places = {
  home: '10.9.0.1',
  away: '198.51.100.2',
  hotel: '198.51.100.3',
  carrier: '198.51.100.4',
  six: '2001:470:1::6',
  office: '198.51.100.80',
  branch: '198.51.100.81',
} as const

export type Stage = Awaited<ReturnType<typeof aDoorStage>>
/** A browser of somebody. */
export type Visitor = Awaited<ReturnType<Stage['signIn']>>

/**
 * One installation with two agents, each with a kernel of its own: `edge` on the host, `branch` outside. Doors are
 * looked at in the kernels; people may be anywhere, because the client outside is a proxy that is trusted.
 */
export async function aDoorStage() {
  const host = await aHost()
  const site = await aSite(host, { everywhere: true })
  const started: TestProcess[] = []
  const agents = {
    edge: {
      ...(await site.registerAgent('edge')),
      place: host.place,
      server: `http://127.0.0.1:${serverPort}`,
    },
    branch: { ...(await site.registerAgent('branch')), place: host.placeOutside, server: urlOf() },
  }
  await makeScripts(agents.edge.data)
  for (const { place } of Object.values(agents))
    for (const [family, names] of [
      ['inet', sets.four],
      ['inet6', sets.six],
    ] as const)
      for (const name of names)
        await exec(place, `ipset create ${name} hash:ip family ${family} timeout 0`.split(' '))

  /** Starts an agent's process; `older` as one of a version that may only close. */
  function startProcess(name: keyof typeof agents, { older = false } = {}): TestProcess {
    const { place, data, token, server } = agents[name]
    const flags = older ? ['--import-map', writeOlderVersion(host.folder)] : []
    const agent = startProgram(
      place([process.execPath, 'run', '--quiet', '--no-prompt', '--allow-all', ...flags, agentMain, 'run']),
      { KNOC_SERVER: server, KNOC_AGENT_DATA: data, KNOC_AGENT_TOKEN: token },
    )
    started.push(agent)
    return agent
  }

  /** The same, linked. */
  async function startAgent(name: keyof typeof agents, how: { older?: boolean } = {}): Promise<TestProcess> {
    const agent = startProcess(name, how)
    await agent.said(/"state":"linked"/)
    await waitForAgent(site.console, agents[name].id)
    return agent
  }
  const processes = { edge: await startAgent('edge'), branch: await startAgent('branch') }

  /** Makes somebody who may do nothing yet. */
  async function invite(userName: string, fields: Record<string, unknown> = {}): Promise<string> {
    const { ID } = await site.console.request<{ ID: string }>('POST', '/admin/users', {
      Name: userName,
      UserName: userName,
      PlainPassword: password,
      ...fields,
    })
    return ID
  }

  /** A browser in which somebody signs in at an address, and may then be carried to others. */
  async function signIn(userName: string, from: string) {
    const client = createApiClient(urlOf(), host.client.fetch)
    let at = from
    const ask = <Data>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      client.request<Data>(method, path, body, { 'X-Forwarded-For': at, ...headers })
    await ask('POST', '/login', { UserName: userName, Password: password })
    /** The page's own question, every 30 s in a browser: access follows the address. */
    const look = (to: string = at): Promise<UserStatus> => {
      at = to
      return ask<UserStatus>('GET', '/status', undefined, { 'X-Knoc-Revalidate': '1' })
    }
    return {
      ask,
      look,
      click: (aclId: string) => ask('POST', '/grant', { ACLID: aclId, IPs: [] }),
      giveBack: (aclId: string) => ask('DELETE', `/sessions/current/granted-acls/${aclId}`),
      statusOf: async (aclId: string): Promise<AclStatus | undefined> =>
        (await ask<UserStatus>('GET', '/status')).ACLs.find((acl) => acl.ACLID === aclId),
    }
  }

  const makeKnoc = async (fields: Record<string, unknown>, userIds: readonly string[]): Promise<string> => {
    const { Backend, Config = { ipset: { V4SetName: 'a4' } }, GroupIDs = [], ...acl } = fields
    const { ID } = await site.console.request<KnocCreated>('POST', '/admin/knocs', {
      Backend: { AgentID: agents.edge.id, Config: { ipset: {} }, ...(Backend as object) },
      ACL: { Description: 'Door', ClickToGrant: true, Config, ...acl },
      UserIDs: userIds,
      GroupIDs,
    })
    return ID
  }

  /** What stands in both kernels now: door → seconds left, rounded up by the kernel. */
  async function doors(): Promise<Map<string, number>> {
    const seen = new Map<string, number>()
    for (const [name, { place }] of Object.entries(agents))
      for (const [, set = '', address = '', seconds] of (await exec(place, ['ipset', 'save'])).matchAll(
        /^add (\S+) (\S+)(?: timeout (\d+))?/gm,
      ))
        seen.set(doorName(name, set, address), Number(seconds ?? 0))
    return seen
  }

  const unsettled = async (): Promise<number> => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from entries where applied_generation < generation`.execute(site.db)
    return rows[0]?.count ?? 0
  }

  /** What an auditor has to put right now; anything but 0 is a fault (decision 3). */
  function audit(): Promise<number> {
    const deps = { db: site.db, gateway: { nudge: () => undefined }, events: { publish: () => undefined } }
    const log = createLog({ logLevel: 'silent', replica: 'test' })
    return createAuditor({ ...deps, rights: createRights(deps), reads: site.db, log }).audit()
  }

  /** The database's clock, in milliseconds. */
  async function databaseNow(): Promise<number> {
    const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(site.db)
    return rows[0]?.now.getTime() ?? Number.NaN
  }

  /** Every order is carried out. */
  const untilSettled = () => until('every order is carried out', async () => (await unsettled()) === 0)

  /** A licence for so many users, none tolerated above. */
  async function issueLicence(users: number): Promise<string> {
    let licence = ''
    const key = join(dirname(site.settings.KNOC_DATA_DIR), 'licence', 'licence.key')
    const limits = ['--users', `${users}`, '--sessions', '60', '--overage', '0', '--expires', '2099-12-31']
    await runLicenceCommand(['issue', '--key', key, ...limits], {
      out: (text) => {
        licence += text
      },
      err: (text) => {
        throw new Error(text)
      },
    })
    return licence.trim()
  }

  async function close(): Promise<void> {
    await Promise.all(started.map((agent) => agent.kill()))
    await site.close()
    await host.close()
  }

  return {
    host,
    site,
    db: site.db,
    console: site.console,
    agents,
    /** The agents that run now. */
    processes,
    startProcess,
    startAgent,
    invite,
    signIn,
    makeKnoc,
    doors,
    reference: () => readReference(site.db),
    unsettled,
    untilSettled,
    audit,
    databaseNow,
    issueLicence,
    close,
  }
}

/** Holds a program and everything it started where it is; orders pile up at it meanwhile. */
export const hold = ({ pid }: TestProcess): void => void process.kill(-pid, 'SIGSTOP')
export const release = ({ pid }: TestProcess): void => void process.kill(-pid, 'SIGCONT')

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const agentMain = root('agent/main.ts')

function exec(place: (command: readonly string[]) => readonly string[], command: string[]): Promise<string> {
  const [file = '', ...args] = place(command)
  return run(file, args)
}

/** Two scripts that open by a set each, so that an edited command shows in the kernel. */
async function makeScripts(data: string): Promise<void> {
  const folder = join(data, 'scripts')
  mkdirSync(folder, { mode: 0o755 })
  writeFileSync(join(data, 'agent.json'), JSON.stringify({ scripts: true, scriptFolder: folder }), {
    mode: 0o600,
  })
  for (const set of sets.four)
    writeFileSync(
      join(folder, `to-${set}`),
      `#!/bin/sh\n[ "$1" = flush ] && exit 0\nexec /usr/sbin/ipset -exist "$1" ${set} "$3"\n`,
      { mode: 0o755 },
    )
}

/** An import map that gives the agent an older version. */
function writeOlderVersion(folder: string): string {
  const version = join(folder, 'older-version.ts')
  writeFileSync(version, "export const agentVersion = '1.9.9'\n")
  const map = join(folder, 'older.json')
  const imports = { [`file://${root('agent/version.ts')}`]: `file://${version}` }
  writeFileSync(map, JSON.stringify({ imports }))
  return map
}
