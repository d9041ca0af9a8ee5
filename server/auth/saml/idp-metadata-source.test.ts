import { describe, expect, it } from 'vitest'
import { apiError } from '../../errors.ts'
import type { IdpMetadata } from './idp-metadata.ts'
import { createIdpMetadataSource } from './idp-metadata-source.ts'

const url = 'https://idp.example/metadata'
const byUrl = { metadataUrl: url, metadataFile: '' }

function build() {
  const state = { now: 0, asked: 0, isDown: false, warnings: 0 }
  const metadata = (): IdpMetadata => ({
    entityId: `answer ${state.asked}`,
    signInUrl: url,
    signingCertificates: [],
    wantsSignedRequests: false,
  })
  const source = createIdpMetadataSource(
    { warn: () => void (state.warnings += 1) },
    async () => {
      state.asked += 1
      if (state.isDown) throw apiError('err.samlMetadataUnreachable')
      return metadata()
    },
    () => state.now,
  )
  return { state, read: async () => (await source.read(byUrl)).entityId }
}

describe('metadata by address', () => {
  it('is asked for once in ten minutes', async () => {
    const { state, read } = build()
    expect([await read(), await read()]).toEqual(['answer 1', 'answer 1'])
    state.now = 600_000
    await read()
    expect(state.asked).toBe(2)
    expect(await read()).toBe('answer 2')
  })

  it('is asked for once by many who come at the same moment', async () => {
    const { state, read } = build()
    await Promise.all([read(), read(), read()])
    expect(state.asked).toBe(1)
  })

  it('is kept as it was while the address fails, and that is logged', async () => {
    const { state, read } = build()
    await read()
    Object.assign(state, { now: 600_000, isDown: true })
    expect([await read(), await read()]).toEqual(['answer 1', 'answer 1'])
    expect(state).toMatchObject({ asked: 2, warnings: 1 })
  })

  it('that was never read is asked for again ten seconds later, not with every click', async () => {
    const { state, read } = build()
    state.isDown = true
    await expect(read()).rejects.toThrow('err.identityProviderUnavailable')
    await expect(read()).rejects.toThrow('err.identityProviderUnavailable')
    expect(state.asked).toBe(1)
    Object.assign(state, { now: 10_000, isDown: false })
    expect(await read()).toBe('answer 2')
  })
})
