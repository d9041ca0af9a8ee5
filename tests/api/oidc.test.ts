import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configureOidc, oidcClients, signInByOidc } from '../support/oidc-journey.ts'
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.ts'
import { type PeopleApi, startPeopleApi } from '../support/people-api.ts'

let api: PeopleApi
let provider: OidcProvider

beforeAll(async () => {
  api = await startPeopleApi()
  provider = await startOidcProvider({ clients: Object.values(oidcClients) })
  for (const realm of ['user', 'admin'] as const)
    await configureOidc(api, realm, { ...oidcClients[realm], issuer: provider.issuer })
})

afterAll(async () => {
  await provider.stop()
  await api.stop()
})

describe('OIDC', () => {
  it('makes a user at the first sign-in', async () => {
    const subject = randomUUID()
    provider.people.set(subject, {
      preferred_username: `grace.${subject.slice(0, 8)}`,
      realName: 'Grace Hopper',
    })
    const browser = api.browser()
    expect(await signInByOidc(browser, 'user', subject)).toBe('/')
    expect((await browser.get('/whoami')).body).toMatchObject({
      data: { UserName: `grace.${subject.slice(0, 8)}` },
    })
  })
})
