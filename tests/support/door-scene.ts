import { sql } from 'kysely'
import { aDoorStage, places } from './door-stage.ts'
import { until } from './until.ts'

const { home, away } = places

/** Everybody and everything that a change of doors is about. */
export type Scene = Awaited<ReturnType<typeof aDoorScene>>

/** A stage with people on it: Ada and Bob, who share an address, and Cleo, who changes. */
export async function aDoorScene() {
  const stage = await aDoorStage()
  const { request } = stage.console
  /** A licence for so many users; by default for more than there are. */
  const license = async (users = 500) =>
    request('POST', '/admin/settings/license', { License: await stage.issueLicence(users) })
  await license()
  const ids = { ada: await stage.invite('ada'), bob: await stage.invite('bob'), cleo: '' }
  const ada = await stage.signIn('ada', home)
  const scene = {
    ...stage,
    license,
    ids,
    /** Ada at home, her second session there, her other device away; Bob at home; Cleo; all signed in. */
    by: {
      ada,
      ada2: await stage.signIn('ada', home),
      adaAway: await stage.signIn('ada', away),
      bob: await stage.signIn('bob', home),
      cleo: ada,
    },
    /** The knocs of the case, in the order in which they were made. */
    knocs: [] as string[],
    /** A group with Cleo in it, and one with nobody but a claim of hers. */
    groups: { local: '', dynamic: '' },
    edit: (ACL: Record<string, unknown>, knoc = 0): Promise<unknown> =>
      request('PUT', `/admin/knocs/${scene.knocs[knoc]}`, { ACL }),
    editUser: (who: keyof typeof ids, fields: Record<string, unknown>) =>
      request('PUT', `/admin/users/${ids[who]}`, { Name: who, ...fields }),
    remove: (path: string) => request('DELETE', path),
    aNewCleo,
    /** Waits until just these doors stand; how long it took, in milliseconds. */
    untilDoors: async (what: string, wanted: readonly string[]): Promise<number> => {
      const names = wanted.toSorted().join(', ')
      let seen = ''
      return until(what, async () => {
        seen = [...(await stage.doors()).keys()].toSorted().join(', ')
        return seen === names
      }).catch((error: unknown) => {
        throw new Error(`${what}: wanted [${names}], there is [${seen}]`, { cause: error })
      })
    },
  }

  let cleos = 0
  /** Somebody who has never been here, signed in away from home, in a local group and by a claim in a dynamic one. */
  async function aNewCleo(): Promise<void> {
    const name = `cleo-${(cleos += 1)}`
    ids.cleo = await stage.invite(name)
    scene.by.cleo = await stage.signIn(name, away)
    for (const type of ['local', 'dynamic'] as const) {
      if (scene.groups[type] !== '')
        await scene.remove(`/admin/groups/${scene.groups[type]}`).catch(() => null)
      const group = { Name: `${type} group`, Type: type, UserIDs: type === 'local' ? [ids.cleo] : [] }
      scene.groups[type] = (await request<{ ID: string }>('POST', '/admin/groups', group)).ID
    }
    await sql`
      insert into group_members (group_id, user_id, source)
      values (${scene.groups.dynamic}, ${ids.cleo}, 'claim')`.execute(stage.db)
  }

  return scene
}
