import { expect, it } from 'vitest'
import { Secret } from '../platform/secret.ts'
import { createSealer } from '../platform/secrets.ts'
import { makeNonce, readNonce } from './nonce.ts'

const sealer = createSealer(new Secret(Buffer.alloc(32, 7).toString('base64')))
const other = createSealer(new Secret(Buffer.alloc(32, 8).toString('base64')))
const facts = { sessionId: '0b1d3e5f-0000-4000-8000-00000000abcd', issuedAt: new Date(1_796_000_000_123) }

it('says for whom it was made and when, and is another one each time', () => {
  const nonce = makeNonce(sealer, facts)
  expect(readNonce(sealer, nonce)).toEqual(facts)
  expect(makeNonce(sealer, facts)).not.toBe(nonce)
  expect(nonce.length).toBeLessThan(128)
  expect(encodeURIComponent(nonce)).toBe(nonce)
})

it('is read by nobody with another key, and not after any of its characters has changed', () => {
  const nonce = makeNonce(sealer, facts)
  expect(readNonce(other, nonce)).toBeUndefined()
  for (let at = 0; at < nonce.length; at++) {
    const changed = `${nonce.slice(0, at)}${nonce[at] === '0' ? '1' : '0'}${nonce.slice(at + 1)}`
    expect(readNonce(sealer, changed), changed).toBeUndefined()
  }
  for (const wrong of ['', '.', '...', ` ${nonce}`, `${nonce}\n`, nonce.slice(1), 'é'.repeat(100)])
    expect(readNonce(sealer, wrong)).toBeUndefined()
})

it('is signed for this use alone', () => {
  const nonce = makeNonce(sealer, facts)
  const said = nonce.slice(0, nonce.lastIndexOf('.'))
  const foreign = Buffer.from(sealer.hmac('another use', said), 'hex').toString('base64url')
  expect(readNonce(sealer, `${said}.${foreign}`)).toBeUndefined()
})
