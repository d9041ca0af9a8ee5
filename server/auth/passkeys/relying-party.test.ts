import { describe, expect, it } from 'vitest'
import { relyingPartyOf } from './relying-party.ts'

describe('the relying party', () => {
  it.each([
    ['https://knoc.example', { id: 'knoc.example', origin: 'https://knoc.example' }],
    ['https://knoc.example:8443', { id: 'knoc.example', origin: 'https://knoc.example:8443' }],
    ['http://localhost:8080', { id: 'localhost', origin: 'http://localhost:8080' }],
    ['http://knoc.localhost', { id: 'knoc.localhost', origin: 'http://knoc.localhost' }],
  ])('is that of the public URL %s', (publicUrl, party) => {
    expect(relyingPartyOf({ publicUrl })).toEqual(party)
  })

  it.each([
    'http://knoc.example',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
    'https://192.0.2.1',
    'http://notlocalhost',
  ])('is nobody at %s, where browsers have no passkeys', (publicUrl) => {
    expect(() => relyingPartyOf({ publicUrl })).toThrow('err.passkeysUnavailable')
  })
})
