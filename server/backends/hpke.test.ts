import { createPrivateKey, createPublicKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hpkeOpen, hpkeSeal } from './hpke.ts'

const hex = (text: string): Buffer => Buffer.from(text, 'hex')
const privateKey = (raw: string) =>
  createPrivateKey({
    key: Buffer.concat([hex('302e020100300506032b656e04220420'), hex(raw)]),
    format: 'der',
    type: 'pkcs8',
  })

/** RFC 9180, appendix A.1.1: base mode, first encryption. */
const rfc = {
  ephemeral: privateKey('52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736'),
  recipient: privateKey('4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8'),
  info: hex('4f6465206f6e2061204772656369616e2055726e'),
  aad: hex('436f756e742d30'),
  plain: hex('4265617574792069732074727574682c20747275746820626561757479'),
  enc: '37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431',
  sealed: 'f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a',
}
const { info, aad, plain } = rfc

/** The same message to the same key under AES-256-GCM, made by another implementation (pyca/cryptography 48). */
const foreign =
  '2761676fdf449444ce5ce8dcb32c0fe63164640e9189cbe2278bbd4d6f0df60589aee193a702f6d01a9987002c953b7b9d4ad10f29b3ecad877dd7a230827a1af8ddb004fa8cccf291c75babae'

describe('hpke', () => {
  it('seals byte for byte as the RFC prints it', () => {
    const recipient = createPublicKey(rfc.recipient)
    const sealed = hpkeSeal(plain, { recipient, ephemeral: rfc.ephemeral, info, aad, aead: 'aes-128-gcm' })
    expect(sealed.toString('hex')).toBe(rfc.enc + rfc.sealed)
  })

  it('opens what the RFC sealed', () => {
    const sealed = hex(rfc.enc + rfc.sealed)
    expect(hpkeOpen(sealed, { recipient: rfc.recipient, info, aad, aead: 'aes-128-gcm' })).toEqual(plain)
  })

  it('opens with AES-256-GCM what another implementation sealed', () => {
    expect(hpkeOpen(hex(foreign), { recipient: rfc.recipient, info, aad: Buffer.alloc(0) })).toEqual(plain)
  })

  it('refuses another context, another key and any changed byte', () => {
    const recipient = createPublicKey(rfc.recipient)
    const sealed = hpkeSeal(plain, { recipient, info, aad })
    const context = { recipient: rfc.recipient, info, aad }
    expect(hpkeOpen(sealed, context)).toEqual(plain)
    expect(() => hpkeOpen(sealed, { ...context, info: hex('00') })).toThrow()
    expect(() => hpkeOpen(sealed, { ...context, aad: hex('00') })).toThrow()
    expect(() => hpkeOpen(sealed, { ...context, recipient: rfc.ephemeral })).toThrow()
    for (let at = 0; at < sealed.length; at += 1) {
      // The top bit of an X25519 key is ignored by its definition, so the lowest is flipped.
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => hpkeOpen(changed, context)).toThrow()
    }
    expect(() => hpkeOpen(sealed.subarray(0, 40), context)).toThrow('not a sealed value')
  })

  it('refuses a recipient key of small order', () => {
    const zero = createPublicKey({
      key: Buffer.concat([hex('302a300506032b656e032100'), Buffer.alloc(32)]),
      format: 'der',
      type: 'spki',
    })
    expect(() => hpkeSeal(plain, { recipient: zero, info, aad })).toThrow()
  })
})
