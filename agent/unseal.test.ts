import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { TargetDescription } from '#machines/protocol.ts'
import { hpkeSeal } from '#server/backends/hpke.ts'
import { listVariable, sealBindingText } from '#server/backends/sealing.schema.ts'
import { createUnseal } from './unseal.ts'

const field = listVariable('TOKEN')
const agentId = randomUUID()
const backendId = randomUUID()
const { privateKey, publicKey } = generateKeyPairSync('x25519')

const sealedFor = (changed: Partial<Parameters<typeof sealBindingText>[0]> = {}) =>
  hpkeSeal(Buffer.from('s3cret'), {
    recipient: publicKey,
    info: Buffer.from(
      sealBindingText({ agentId, backendId, type: 'script', device: '', insecure: false, field, ...changed }),
    ),
    aad: Buffer.alloc(0),
  }).toString('base64')

const target = (sealed: string, changed: Partial<TargetDescription> = {}): TargetDescription => ({
  id: randomUUID(),
  key: 'script:x',
  type: 'script',
  family: null,
  backendId,
  backend: { Command: 'door.sh' },
  list: { Name: 'door', EnvVars: {} },
  sealed: { [field]: sealed },
  foreignEntries: 'report',
  ...changed,
})

const unseal = createUnseal(privateKey, () => agentId)

it('opens what was sealed for exactly this use', () => {
  expect(unseal(target(sealedFor()), field)).toBe('s3cret')
})

it('opens nothing that was sealed for another backend, device, field, agent or key', () => {
  expect(unseal(target(sealedFor({ backendId: randomUUID() })), field)).toBeUndefined()
  expect(unseal(target(sealedFor({ field: listVariable('OTHER') })), field)).toBeUndefined()
  expect(unseal(target(sealedFor({ agentId: randomUUID() })), field)).toBeUndefined()
  expect(unseal(target(sealedFor()), listVariable('OTHER'))).toBeUndefined()
  expect(
    unseal(target(sealedFor(), { backend: { WebhookUrl: 'https://attacker.test' } }), field),
  ).toBeUndefined()
  expect(unseal(target(sealedFor(), { backend: { Insecure: true } }), field)).toBeUndefined()
  expect(unseal(target('AAAA'), field)).toBeUndefined()
  const other = createUnseal(generateKeyPairSync('x25519').privateKey, () => agentId)
  expect(other(target(sealedFor()), field)).toBeUndefined()
})
