import { statuses } from '../../machines/grant-status.ts'
import type { GrantAnswer } from '../../server/grants/grant.schema.ts'
import type { UserStatus } from '../../server/status/status.schema.ts'
import { type ApiClient, createApiClient } from './api-client.ts'
import type { Arena } from './arena.ts'
import type { Account } from './seed.ts'

/** What the journey took, in milliseconds, and whether every step held. */
export type Journey = {
  ok: boolean
  mode: Arena['kind']
  steps: { step: string; held: boolean; ms: number }[]
  clickToReachableMs: number | null
  clickToVerifiedMs: number | null
  revokeToBlockedMs: number | null
}

const patienceMs = 10_000

/**
 * The journey by itself, through the HTTP API and the real door: blocked → granted → reachable → revoked → blocked.
 */
export async function checkJourney(arena: Arena, user: Account, aclId: string): Promise<Journey> {
  const client = createApiClient(arena.serverUrl)
  const steps: Journey['steps'] = []

  async function step(name: string, act: () => Promise<boolean>): Promise<number> {
    const started = performance.now()
    const held = await act().catch(() => false)
    const ms = Math.round((performance.now() - started) * 10) / 10
    steps.push({ step: name, held, ms })
    return ms
  }

  await step('blocked before', async () => !(await isReachable(arena.doorUrl)))
  await step('signed in', () => signIn(client, user))
  await step('still blocked', async () => !(await isReachable(arena.doorUrl)))
  const clicked = performance.now()
  const granted = await step('granted', () => grant(client, aclId))
  const reachable = await step('reachable', () => until(() => isReachable(arena.doorUrl)))
  await step('shown as open', () => until(async () => (await statusOf(client, aclId)) === 0))
  const verified = performance.now() - clicked
  const revoked = await step('revoked', () => revoke(client, aclId))
  const blocked = await step('blocked', () => until(async () => !(await isReachable(arena.doorUrl))))
  await step('shown as closed', () => until(async () => (await statusOf(client, aclId)) === 9))

  const ok = steps.every(({ held }) => held)
  return {
    ok,
    mode: arena.kind,
    steps,
    clickToReachableMs: ok ? Math.round((granted + reachable) * 10) / 10 : null,
    clickToVerifiedMs: ok ? Math.round(verified * 10) / 10 : null,
    revokeToBlockedMs: ok ? Math.round((revoked + blocked) * 10) / 10 : null,
  }
}

async function signIn(client: ApiClient, user: Account): Promise<boolean> {
  await client.request('POST', '/login', { UserName: user.userName, Password: user.password })
  return true
}

async function grant(client: ApiClient, aclId: string): Promise<boolean> {
  const answer = await client.request<GrantAnswer>('POST', '/grant', { ACLID: aclId, IPs: [] })
  return answer.Status in statuses && answer.ExpiredAfter !== null
}

async function revoke(client: ApiClient, aclId: string): Promise<boolean> {
  const answer = await client.request<GrantAnswer>('DELETE', `/sessions/current/granted-acls/${aclId}`)
  return answer.Status in statuses
}

async function statusOf(client: ApiClient, aclId: string): Promise<number | undefined> {
  const status = await client.request<UserStatus>('GET', '/status')
  return status.ACLs.find((acl) => acl.ACLID === aclId)?.Status
}

async function isReachable(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) })
    return (await answer.text()).startsWith('You came through')
  } catch {
    return false
  }
}

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + patienceMs
  while (performance.now() < end) {
    if (await holds()) return true
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return false
}
