import { createApp } from '#server/app.ts'
import { createDiscovery } from '#server/discovery/discovery.service.ts'
import { createLookupApp, lookupLimit } from '#server/discovery/lookup.routes.ts'
import { createRights } from '#server/entries/create-rights.ts'
import { createGrantService } from '#server/grants/grant.service.ts'
import { systemClock } from '#server/platform/clock.ts'
import { isGrantable } from '#server/platform/http/grantable-address.ts'
import { aKnoc, anAgent, entitle } from './builders.ts'
import { type Browser, createBrowser, startPeopleApi } from './people-api.ts'
import { aLicence, aUser, rightPassword } from './people-builders.ts'

/** An address of the server itself. */
export const ownAddress = '203.0.113.200'

/** The whole application on a real database, with the lookup ports as functions. */
export type DiscoveryApi = Awaited<ReturnType<typeof startDiscoveryApi>>

/** Starts it; nothing listens before `discovery.look`. */
export async function startDiscoveryApi(env: Record<string, string> = {}) {
  const people = await startPeopleApi(env)
  const { db, deps } = people
  const { config, log, sealer } = deps
  const gateway = { nudge: () => undefined, drop: async () => undefined }
  const told: string[] = []
  const events = {
    publish: (sessionIds: readonly string[]) => void told.push(...sessionIds),
    subscribe: () => () => undefined,
  }
  const rights = createRights({ db, gateway, events })
  const mayBeGranted = (address: string) =>
    isGrantable(address, {
      ownAddresses: [ownAddress],
      proxies: config.trustedProxies,
      allowLoopback: false,
    })
  const grants = createGrantService({ db, rights, gateway, events, log, isGrantable: mayBeGranted })
  const discovery = createDiscovery({
    config,
    db,
    sealer,
    isGrantable: mayBeGranted,
    certificate: undefined,
    clock: systemClock,
    log,
  })
  const app = createApp({
    ...deps,
    clock: systemClock,
    rights,
    gateway,
    events,
    discovery,
    grants,
    metrics: { text: async () => '' },
    pages: { files: new Map(), bundleHash: '', preloadsOf: () => [] },
    queueHealth: async () => ({ backend: 'postgres', degraded: null, failedAdds: 0 }),
  })
  const limit = lookupLimit(systemClock)
  const ports = new Map(
    [443, 222, 3389, 8000].map((port) => [
      port,
      createLookupApp({ config, sight: discovery.sight, limit, log, port }),
    ]),
  )
  await aLicence(people)
  const agentId = await anAgent(db)

  async function set(values: Record<string, unknown>): Promise<void> {
    for (const [name, value] of Object.entries(values))
      await db
        .insertInto('settings')
        .values({ name, value: JSON.stringify(value) })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: JSON.stringify(value) }))
        .execute()
    await discovery.look()
  }

  const browser = (at: string) => createBrowser((path, init) => app.request(path, init, { peer: at }))

  /** A browser at an address in which a new user is signed in, who may have these knocs. */
  async function aPerson(at: string, knocs: readonly { aclId: string }[] = []) {
    const user = await aUser(people)
    for (const { aclId } of knocs) await entitle(db, user.id, aclId)
    const signedIn = browser(at)
    const { status } = await signedIn.post('/login', { UserName: user.userName, Password: rightPassword })
    if (status !== 200) throw new Error(`${user.userName} was not signed in: ${status}`)
    return { ...user, ...signedIn, nonce: async () => (await statusOf(signedIn)).Nonce as string }
  }

  return {
    /** For the builders of people. */
    people,
    db,
    sealer,
    rights,
    app,
    grants,
    /** Sessions whose pages were told to look again. */
    told,
    set,
    stop: people.stop,
    browser,
    aPerson,
    /** The same browser, which keeps its cookies, at another address. */
    movedTo: (from: Browser, at: string): Browser => {
      const moved = browser(at)
      for (const [name, value] of from.jar) moved.jar.set(name, value)
      return moved
    },
    /** A knoc that isn't click-to-grant unless said, on a set of its own. */
    aKnoc: async ({ cgnatOpen = true, clickToGrant = false } = {}) => {
      const knoc = await aKnoc(db, { agentId, clickToGrant })
      await db.updateTable('acls').set({ cgnatOpen }).where('id', '=', knoc.aclId).execute()
      return knoc
    },
    /** A request to a lookup port, from wherever the test says. */
    lookUp: async (port: number, at: string, nonce: string, headers: Record<string, string> = {}) =>
      (ports.get(port) as NonNullable<ReturnType<typeof ports.get>>).request(
        `/any/path?n=${nonce}`,
        { headers },
        { peer: at },
      ),
    /** A request to the portal's own port by one of its names. */
    lookUpAt: async (host: string, at: string, nonce: string) =>
      app.request(`/ip?n=${nonce}`, { headers: { Host: host } }, { peer: at }),
    /** Addresses for which a list is to be open. */
    openFor: async ({ targetId }: { targetId: string }): Promise<string[]> => {
      const rows = await db
        .selectFrom('entries')
        .select('address')
        .where('targetId', '=', targetId)
        .where('desired', '=', 'open')
        .execute()
      return rows.map(({ address }) => address).toSorted()
    },
    sightings: async () => (await db.selectFrom('addressSightings').selectAll().execute()).length,
  }
}

/** The portal's status of whoever is signed in. */
export const statusOf = async (browser: Pick<Browser, 'get'>, headers?: Record<string, string>) =>
  (await browser.get('/status', headers)).body.data

/** The same as the portal's own re-validation. */
export const revalidated = (browser: Pick<Browser, 'get'>) => statusOf(browser, { 'X-Knoc-Revalidate': '1' })
