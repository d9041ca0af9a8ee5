import { createPublicKey, X509Certificate } from 'node:crypto'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKeyPair, type KeyPair } from '#server/auth/saml/key-pair.ts'
import { signInRoutes } from '#server/auth/sign-in.routes.ts'
import { clientAddressOf } from '#server/platform/http/client-address.ts'
import type { HttpEnv } from '#server/platform/http/http-env.ts'
import { type Browser, type PeopleApi, startPeopleApi } from '#tests/support/people-api.ts'
import {
  type Claimed,
  inSeconds,
  type Signing,
  signXml,
  toField,
  wrappings,
  writeAssertion,
  writeResponse,
} from '#tests/support/saml-forge.ts'
import { askIdp, bare, ours, type SamlIdp, sendForm, setSaml, startSamlIdp } from '#tests/support/saml-idp.ts'

let api: PeopleApi
let idp: SamlIdp
let stranger: KeyPair
let keyPair: KeyPair

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
const authenticated = `<saml:AuthnStatement AuthnInstant="2026-01-01T00:00:00Z"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`

beforeAll(async () => {
  api = await startPeopleApi()
  idp = await startSamlIdp()
  stranger = await createKeyPair('stranger')
  keyPair = await createKeyPair('knoc.example')
  const metadataFile = await idp.metadata()
  await setSaml(api, 'user', { metadataFile, keyPair })
  await setSaml(api, 'admin', { metadataFile, keyPair })
})
afterAll(() => Promise.all([api.stop(), idp.stop()]))

/** What an attack has to work with: an open request of the victim's browser and the honest answer to it. */
type Scene = {
  /** The name that the honest answer gives; a new one for each attack. */
  victim: string
  browser: Browser
  requestId: string
  /** The honest response, signed twice, as text. */
  honest: string
  /** A response with these changes, all else as the provider would write it, signed by it. */
  issue: (changes?: Partial<Claimed>, how?: Partial<Signing>, what?: 'Response' | 'Assertion') => string
  /** The same, unsigned. */
  write: (changes?: Partial<Claimed>) => string
  sign: (xml: string, how?: Partial<Signing>, what?: 'Response' | 'Assertion') => string
}

const mallory = 'mallory@example.com'

let scenes = 0
async function setScene(): Promise<Scene> {
  scenes += 1
  const victim = `victim${scenes}@example.com`
  idp.state.person = { name: victim, attributes: { realName: 'Victim' } }
  const browser = api.browser()
  const form = await askIdp(browser)
  const requestId = idp.state.seen.at(-1)?.id ?? ''
  const usual: Claimed = {
    responseId: `_response${scenes}`,
    assertionId: `_assertion${scenes}`,
    inResponseTo: requestId,
    confirms: requestId,
    destination: ours('user').acs,
    issuer: idp.entityId,
    audience: ours('user').entityId,
    recipient: ours('user').acs,
    notBefore: inSeconds(-5),
    notOnOrAfter: inSeconds(300),
    confirmedUntil: inSeconds(300),
    name: mallory,
    method: bearer,
    statements: authenticated,
    status: 'Success',
    extensions: '',
  }
  const write = (changes: Partial<Claimed> = {}) => writeResponse({ ...usual, ...changes })
  const sign = (xml: string, how: Partial<Signing> = {}, what: 'Response' | 'Assertion' = 'Assertion') =>
    signXml(xml, what, { key: idp.keys.key, certificate: idp.keys.certificate, ...how })
  return {
    victim,
    browser,
    requestId,
    honest: Buffer.from(form.SAMLResponse, 'base64').toString(),
    write,
    sign,
    issue: (changes, how, what) => sign(write(changes), how, what),
  }
}

const publicKeyOf = (certificate: string) =>
  createPublicKey(certificate).export({ type: 'spki', format: 'pem' })

const sha1 = 'http://www.w3.org/2000/09/xmldsig#'
const entity = (declaration: string) => `<!DOCTYPE x [${declaration}]>`

/** Title, the text or field that is sent, and the reason that the audit log gives. */
type Attack = [title: string, reason: string | RegExp, forge: (scene: Scene) => string]

const wrapped: Attack[] = [
  [
    'XSW1',
    'a Response at Response (signed)/Signature/Response',
    ({ honest }) => wrappings.XSW1(honest, mallory),
  ],
  ['XSW2', 'a Response at Response (signed)/Response', ({ honest }) => wrappings.XSW2(honest, mallory)],
  [
    'XSW3',
    '2 assertions: Response/Assertion, Response/Assertion (signed)',
    ({ issue }) => wrappings.XSW3(issue({ name: 'eve' }), mallory),
  ],
  [
    'XSW4',
    '2 assertions: Response/Assertion, Response/Assertion/Assertion (signed)',
    ({ issue }) => wrappings.XSW4(issue({ name: 'eve' }), mallory),
  ],
  [
    'XSW5',
    '2 assertions: Response/Assertion (signed), Response/Assertion',
    ({ issue }) => wrappings.XSW5(issue({ name: 'eve' }), mallory),
  ],
  [
    'XSW6',
    '2 assertions: Response/Assertion (signed), Response/Assertion (signed)/Signature/Assertion',
    ({ issue }) => wrappings.XSW6(issue({ name: 'eve' }), mallory),
  ],
  [
    'XSW7',
    '2 assertions: Response/Extensions/Assertion, Response/Assertion (signed)',
    ({ issue }) => wrappings.XSW7(issue({ name: 'eve' }), mallory),
  ],
  [
    'XSW8',
    '2 assertions: Response/Assertion (signed), Response/Assertion (signed)/Signature/Object/Assertion',
    ({ issue }) => wrappings.XSW8(issue({ name: 'eve' }), mallory),
  ],
]

const signatures: Attack[] = [
  ['no signature', 'not signed, or changed after it was signed', ({ write }) => write()],
  [
    'another name after signing',
    'not signed, or changed after it was signed',
    ({ honest, victim }) => honest.replace(victim, mallory),
  ],
  [
    'a key of somebody else',
    'signature: ERROR_UNMATCH_CERTIFICATE_DECLARATION_IN_METADATA',
    ({ issue }) => issue({}, { key: stranger.key, certificate: stranger.certificate }),
  ],
  [
    'a key of somebody else under the provider’s certificate',
    /^signature: invalid signature/,
    ({ issue }) => issue({}, { key: stranger.key }),
  ],
  [
    'a key of somebody else and no certificate',
    /^signature: invalid signature/,
    ({ write }) => signXml(write(), 'Assertion', { key: stranger.key }),
  ],
  [
    'SHA-1 to sign',
    `signature algorithm ${sha1}rsa-sha1`,
    ({ issue }) => issue({}, { algorithm: `${sha1}rsa-sha1` }),
  ],
  ['SHA-1 to digest', `digest algorithm ${sha1}sha1`, ({ issue }) => issue({}, { digest: `${sha1}sha1` })],
  [
    'HMAC with the public key',
    `signature algorithm ${sha1}hmac-sha1`,
    ({ issue }) => issue({}, { hmac: publicKeyOf(idp.keys.certificate) }),
  ],
  [
    'no algorithm',
    'signature algorithm none',
    ({ issue }) => issue().replace(/(SignatureMethod Algorithm=")[^"]*/, '$1'),
  ],
  [
    'an unknown algorithm',
    'signature algorithm urn:mallory:none',
    ({ issue }) => issue().replace(/(SignatureMethod Algorithm=")[^"]*/, '$1urn:mallory:none'),
  ],
  [
    'an unknown transform',
    'transform http://www.w3.org/TR/1999/REC-xslt-19991116',
    ({ issue }) =>
      issue().replace(/(Transform Algorithm=")[^"]*/, '$1http://www.w3.org/TR/1999/REC-xslt-19991116'),
  ],
  [
    'comments in the signed text',
    'canonicalization http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
    ({ issue }) => issue().replace(/(CanonicalizationMethod Algorithm="[^"]*)/, '$1WithComments'),
  ],
  [
    'a reference to the whole document',
    'signature of another element than its own',
    ({ issue }) => issue().replace(/(Reference URI=")[^"]*/, '$1'),
  ],
  [
    'a reference to the response, in the assertion',
    'signature of another element than its own',
    ({ issue }) => issue().replace(/(Reference URI="#)_assertion/, '$1_response'),
  ],
  [
    'two references',
    'signature with 2 Reference',
    ({ issue }) => issue().replace(/<ds:Reference.*<\/ds:Reference>/, '$&$&'),
  ],
  [
    'two signatures',
    '2 signatures at Response/Assertion (signed)',
    ({ issue }) => issue().replace(/<ds:Signature .*<\/ds:Signature>/, '$&$&'),
  ],
  [
    'an ID that stands twice',
    'an ID that stands twice',
    ({ issue }) => issue({ responseId: '_same', assertionId: '_same' }),
  ],
  [
    'a signature beside the assertion',
    'signature at Response/Status (signed)/Signature (signed)',
    ({ issue }) => {
      const [signature = ''] = /<ds:Signature .*<\/ds:Signature>/.exec(issue()) ?? []
      const inner = `<ds:Signature xmlns:ds="${sha1}">${signature}</ds:Signature>`
      return issue().replace(signature, '').replace('</samlp:Status>', `${inner}</samlp:Status>`)
    },
  ],
]

const contents: Attack[] = [
  ['another audience', 'audience is another', ({ issue }) => issue({ audience: 'https://other.example' })],
  [
    'the other realm’s audience',
    'audience is another',
    ({ issue }) => issue({ audience: ours('admin').entityId }),
  ],
  ['no audience', 'no audience', ({ issue }) => issue({ audience: null })],
  [
    'another recipient',
    'recipient is another',
    ({ issue }) => issue({ recipient: 'https://other.example/acs' }),
  ],
  ['no recipient', 'recipient is another', ({ issue }) => issue({ recipient: null })],
  ['another destination', 'destination is another', ({ issue }) => issue({ destination: ours('admin').acs })],
  [
    'no destination in a signed response',
    'destination is another',
    ({ issue }) => issue({ destination: null }, {}, 'Response'),
  ],
  [
    'an assertion that is over',
    'Conditions: expired',
    ({ issue }) => issue({ notOnOrAfter: inSeconds(-90) }),
  ],
  [
    'an assertion of tomorrow',
    'Conditions: not yet valid',
    ({ issue }) => issue({ notBefore: inSeconds(90) }),
  ],
  [
    'a confirmation that is over',
    'confirmation: expired',
    ({ issue }) => issue({ confirmedUntil: inSeconds(-90) }),
  ],
  ['no begin', 'Conditions without NotBefore', ({ issue }) => issue({ notBefore: null })],
  ['no end', 'Conditions without NotOnOrAfter', ({ issue }) => issue({ notOnOrAfter: null })],
  [
    'no end of the confirmation',
    'confirmation without NotOnOrAfter',
    ({ issue }) => issue({ confirmedUntil: null }),
  ],
  [
    'a time without a zone',
    'NotOnOrAfter is no instant in UTC',
    ({ issue }) => issue({ notOnOrAfter: '2099-01-01T00:00:00' }),
  ],
  [
    'a holder of a key in place of a bearer',
    '0 bearer confirmations',
    ({ issue }) => issue({ method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' }),
  ],
  ['another issuer', 'issuer of the response is another', ({ issue }) => issue({ issuer: 'urn:other:idp' })],
  [
    'another issuer of the assertion',
    'issuer of the assertion is another',
    ({ issue }) => issue({ issuer: 'urn:other:idp' }).replace('urn:other:idp', idp.entityId),
  ],
  ['nobody authenticated', 'nobody authenticated', ({ issue }) => issue({ statements: '' })],
  [
    'a session that is over',
    'the session at the identity provider is over',
    ({ issue }) =>
      issue({
        statements: authenticated.replace(
          'AuthnInstant',
          `SessionNotOnOrAfter="${inSeconds(-90)}" AuthnInstant`,
        ),
      }),
  ],
  [
    'a condition that nobody knows',
    'condition Condition is not known',
    ({ sign, write }) =>
      sign(
        write().replace(
          '</saml:Conditions>',
          '<saml:Condition xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="saml:OneTimeUseType"/></saml:Conditions>',
        ),
      ),
  ],
  ['a failure as the status', 'status Responder', ({ issue }) => issue({ status: 'Responder' })],
  [
    'no InResponseTo',
    'no InResponseTo: nobody asked for it',
    ({ issue }) => issue({ inResponseTo: null, confirms: null }),
  ],
  [
    'no InResponseTo in what is signed',
    'no InResponseTo in the assertion: nobody asked for it',
    ({ issue }) => issue({ confirms: null }),
  ],
  [
    'an InResponseTo that we never sent',
    'the response answers no open request of this browser',
    ({ issue }) => issue({ inResponseTo: '_foreign', confirms: '_foreign' }),
  ],
  [
    'an InResponseTo that we never sent, in what is signed',
    'InResponseTo is no open request of this browser',
    ({ issue }) => issue({ confirms: '_foreign' }),
  ],
  [
    'a transient name',
    'NameID is transient',
    ({ sign, write }) =>
      sign(
        write().replace(
          '<saml:NameID>',
          '<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient">',
        ),
      ),
  ],
  ['an empty name', 'NameID of 0 characters', ({ issue }) => issue({ name: '' })],
  ['a name without end', 'NameID of 300 characters', ({ issue }) => issue({ name: 'm'.repeat(300) })],
]

const texts: Attack[] = [
  [
    'a comment in the name',
    'response: comment',
    ({ honest, victim }) => honest.replace(victim, `${mallory}<!-- -->.${victim}`),
  ],
  [
    'a signed comment in the name',
    'response: comment',
    ({ issue }) => issue({ name: `${mallory}<!-- -->.evil` }),
  ],
  [
    'an element in the name',
    /^schema: .*NameID/,
    ({ issue }) => issue({ name: `${mallory}<b xmlns="urn:x">.evil</b>` }),
  ],
  [
    'hidden markup in the name',
    'response: CDATA section',
    ({ issue }) => issue({ name: `<![CDATA[${mallory}]]>` }),
  ],
  [
    'an entity that grows',
    'response: document type or entity declaration',
    ({ issue }) =>
      entity('<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">') +
      issue().replace(mallory, '&c;'),
  ],
  [
    'an entity from a file',
    'response: document type or entity declaration',
    ({ issue }) => entity('<!ENTITY a SYSTEM "file:///etc/passwd">') + issue().replace(mallory, '&a;'),
  ],
  [
    'an entity without a declaration',
    /^response: not well-formed/,
    ({ issue }) => issue().replace(mallory, '&mallory;'),
  ],
  [
    'an instruction',
    'response: processing instruction',
    ({ issue }) => issue().replace('<saml:Assertion', '<?php mallory ?><saml:Assertion'),
  ],
  [
    'another encoding',
    'response: another encoding than UTF-8',
    ({ issue }) => `<?xml version="1.0" encoding="UTF-7"?>${issue()}`,
  ],
  [
    'two assertions, both signed',
    '2 assertions: Response/Assertion (signed), Response/Assertion (signed)',
    ({ issue }) => {
      const [first = ''] = /<saml:Assertion.*<\/saml:Assertion>/.exec(issue({ assertionId: '_first' })) ?? []
      return issue().replace('<saml:Assertion', `${first}<saml:Assertion`)
    },
  ],
  [
    'no assertion',
    'no assertion (status AuthnFailed)',
    ({ write }) => write({ status: 'AuthnFailed' }).replace(/<saml:Assertion.*<\/saml:Assertion>/, ''),
  ],
  [
    'an assertion alone',
    'a Assertion in place of a Response',
    ({ issue }) => /<saml:Assertion.*<\/saml:Assertion>/.exec(issue())?.[0] ?? '',
  ],
  [
    'an assertion in the extensions',
    'assertion at Response/Extensions/Assertion',
    ({ write }) => {
      const [assertion = ''] = /<saml:Assertion.*<\/saml:Assertion>/.exec(write()) ?? []
      return write({ extensions: `<samlp:Extensions>${assertion}</samlp:Extensions>` }).replace(
        /<\/samlp:Status>.*<\/saml:Assertion>/,
        '</samlp:Status>',
      )
    },
  ],
  [
    'an element that the schema doesn’t know',
    /^schema: .*Mallory/,
    ({ sign, write }) => sign(write().replace('</saml:Conditions>', '</saml:Conditions><saml:Mallory/>')),
  ],
  [
    'deep nesting',
    'response: nested deeper than 40',
    ({ issue }) =>
      issue({
        extensions: `<samlp:Extensions>${'<a xmlns="urn:x">'.repeat(60)}${'</a>'.repeat(60)}</samlp:Extensions>`,
      }),
  ],
  [
    'ten thousand elements',
    'response: more than 10000 elements',
    ({ write }) =>
      write({ extensions: `<samlp:Extensions>${'<a xmlns="u"/>'.repeat(10_001)}</samlp:Extensions>` }),
  ],
  ['half of it', 'response: not well-formed', ({ honest }) => honest.slice(0, honest.length / 2)],
  [
    'too much of it',
    'response: longer than 262144 characters',
    ({ issue }) =>
      issue({ extensions: `<samlp:Extensions><a xmlns="u">${'a'.repeat(262_144)}</a></samlp:Extensions>` }),
  ],
]

describe('a forged response', () => {
  it.each([...wrapped, ...signatures, ...contents, ...texts])(
    'with %s is refused, and the honest one still signs in',
    async (_, reason, forge) => {
      const scene = await setScene()
      await expectRefusal(scene.browser, { SAMLResponse: toField(forge(scene)) }, reason)
      expect(await sendForm(scene.browser, { SAMLResponse: toField(scene.honest) })).toEqual({
        status: 303,
        location: '/',
      })
      expect((await scene.browser.get('/whoami')).body.data.UserName).toBe(scene.victim)
    },
  )

  it.each<[string, string, string | undefined]>([
    ['isn’t base64', 'response: not base64', '<samlp:Response/>'],
    ['is base64 of no text', 'response: not UTF-8', Buffer.from([0xff, 0xfe, 0x80, 0x81]).toString('base64')],
    ['is base64 of no XML', /^response: not well-formed/.source, toField('hello')],
    ['is empty', 'response: not base64', ''],
    ['is absent', 'no SAMLResponse in the form', undefined],
  ])('that %s is refused', async (_, reason, field) => {
    const { browser } = await setScene()
    await expectRefusal(browser, field === undefined ? {} : { SAMLResponse: field }, new RegExp(reason))
  })

  it('in another form than a browser’s is refused', async () => {
    const { browser, honest } = await setScene()
    const { headers } = await browser.post('/saml/acs', { SAMLResponse: toField(honest) })
    expect(headers.get('Location')).toBe('/?error=err.authenticationFailed')
  })

  it('is issued by the same means as these forgeries, and then signs in', async () => {
    const scene = await setScene()
    const honest = scene.issue({ name: scene.victim })
    expect(await sendForm(scene.browser, { SAMLResponse: toField(honest) })).toMatchObject({ location: '/' })
    expect((await scene.browser.get('/whoami')).body.data.UserName).toBe(scene.victim)
  })
})

describe('an honest response', () => {
  it('signs in once: sent again it is refused, by every replica', async () => {
    const { browser, honest } = await setScene()
    const form = { SAMLResponse: toField(honest) }
    expect(await sendForm(browser, form)).toMatchObject({ location: '/' })

    await expectRefusal(browser, form, 'the response answers no open request of this browser', true)
    const response = await secondReplica().request(
      '/api/saml/acs',
      {
        method: 'POST',
        body: new URLSearchParams(form),
        headers: { Cookie: [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      },
      { peer: '198.51.100.7' },
    )
    expect(response.headers.get('Location')).toBe('/?error=err.authenticationFailed')
    expect(response.headers.getSetCookie()).toEqual([])
  })

  it('with an assertion that was used before is refused, by whatever request it came', async () => {
    const first = await setScene()
    expect(
      await sendForm(first.browser, {
        SAMLResponse: toField(first.issue({ assertionId: '_again', name: 'once' })),
      }),
    ).toMatchObject({ location: '/' })
    const second = await setScene()
    const again = second.issue({ assertionId: '_again', name: 'once' })
    await expectRefusal(second.browser, { SAMLResponse: toField(again) }, 'assertion was used before')
  })

  it('signs in one of two who bring it at the same moment', async () => {
    const { browser, honest } = await setScene()
    const answers = await Promise.all([1, 2].map(() => sendForm(browser, { SAMLResponse: toField(honest) })))
    expect(answers.map(({ location }) => location).sort()).toEqual(['/', '/?error=err.authenticationFailed'])
  })

  it('is of no use in another browser, with a request of its own or without any', async () => {
    const { honest, victim } = await setScene()
    const form = { SAMLResponse: toField(honest) }
    const { browser } = await setScene()
    await expectRefusal(browser, form, 'the response answers no open request of this browser')
    await expectRefusal(api.browser(), form, 'the browser has no pre-login cookie')
    expect(await countUsers(victim)).toBe(0)
  })

  it('is of no use in the other realm', async () => {
    const { browser, honest } = await setScene()
    const form = { SAMLResponse: toField(honest) }
    expect(await sendForm(browser, form, 'admin')).toMatchObject({
      location: '/admin/login?error=err.authenticationFailed',
    })
    expect(await lastReason()).toBe('the response answers no open request of this browser')
    expect((await browser.get('/admin/status')).status).toBe(401)
  })

  it('is refused when it comes later than ten minutes after it was asked for', async () => {
    const { browser, honest, requestId } = await setScene()
    await api.db
      .updateTable('identityRequests')
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where('requestId', '=', requestId)
      .execute()
    await expectRefusal(
      browser,
      { SAMLResponse: toField(honest) },
      'the response answers no open request of this browser',
    )
  })
})

describe('an encrypted assertion', () => {
  const withEncryption = async (forge: (encrypted: string) => string, algorithm?: string) => {
    idp.state.encryptFor = keyPair.certificate
    idp.state.signsResponse = false
    if (algorithm !== undefined) idp.state.encryptionAlgorithm = algorithm
    const scene = await setScene().finally(() => {
      idp.state.encryptFor = undefined
      idp.state.signsResponse = true
      idp.state.encryptionAlgorithm = 'http://www.w3.org/2009/xmlenc11#aes256-gcm'
    })
    return { browser: scene.browser, forged: forge(scene.honest) }
  }
  const key = 'xenc:EncryptedKey|e:EncryptedKey|EncryptedKey'

  it.each<[string, string | RegExp, (encrypted: string) => string]>([
    [
      'for RSA 1.5',
      'key encryption algorithm http://www.w3.org/2001/04/xmlenc#rsa-1_5',
      (xml) =>
        xml.replace(
          'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
          'http://www.w3.org/2001/04/xmlenc#rsa-1_5',
        ),
    ],
    [
      'by an unknown cipher',
      'encryption algorithm http://www.w3.org/2001/04/xmlenc#tripledes-cbc',
      (xml) =>
        xml.replace(
          'http://www.w3.org/2009/xmlenc11#aes256-gcm',
          'http://www.w3.org/2001/04/xmlenc#tripledes-cbc',
        ),
    ],
    [
      'with two keys',
      'encrypted assertion with 2 EncryptedKey',
      (xml) => xml.replace(new RegExp(`<(${key}).*</(${key})>`), '$&$&'),
    ],
    [
      'that was changed',
      'not encrypted for our key',
      (xml) =>
        xml.replace(/(<(?:\w+:)?CipherValue>)(.{20})(.{20})(?!.*CipherValue>.*CipherValue>)/, '$1$3$2'),
    ],
    [
      'beside one in the clear',
      /^2 assertions/,
      (xml) => xml.replace('</samlp:Response>', `${writeAssertion(plain)}</samlp:Response>`),
    ],
  ])('%s is refused', async (_, reason, forge) => {
    const { browser, forged } = await withEncryption(forge)
    await expectRefusal(browser, { SAMLResponse: toField(forged) }, reason)
  })

  it('for a key that we don’t have is refused', async () => {
    await setSaml(api, 'user', { metadataFile: await idp.metadata(), keyPair: stranger })
    const { browser, forged } = await withEncryption((xml) => xml)
    await expectRefusal(browser, { SAMLResponse: toField(forged) }, 'not encrypted for our key')
    await setSaml(api, 'user', { metadataFile: await idp.metadata() })
    const again = await withEncryption((xml) => xml)
    await expectRefusal(
      again.browser,
      { SAMLResponse: toField(again.forged) },
      'encrypted, and there is no key to decrypt with',
    )
    await setSaml(api, 'user', { metadataFile: await idp.metadata(), keyPair })
  })

  it('that nobody signed is refused: our certificate is public', async () => {
    idp.state.signsAssertion = false
    const { browser, forged } = await withEncryption((xml) => xml).finally(() => {
      idp.state.signsAssertion = true
    })
    await expectRefusal(
      browser,
      { SAMLResponse: toField(forged) },
      'not signed, or changed after it was signed',
    )
  })

  const plain: Claimed = {
    responseId: '_r',
    assertionId: '_a',
    inResponseTo: null,
    confirms: null,
    destination: null,
    issuer: 'x',
    audience: null,
    recipient: null,
    notBefore: null,
    notOnOrAfter: null,
    confirmedUntil: null,
    name: mallory,
    method: bearer,
    statements: '',
    status: 'Success',
    extensions: '',
  }
})

describe('a flood', () => {
  it('of forms from one address stops filling the audit log; they are refused as ever, and nobody else there is', async () => {
    const peer = '203.0.113.66'
    await api.db
      .insertInto('failureCounters')
      .values({ bucket: `saml user ${peer}`, failures: 299, windowStartedAt: new Date() })
      .execute()
    for (const _ of [1, 2, 3])
      expect(await sendForm(api.browser(peer), { SAMLResponse: 'AAAA' })).toMatchObject({
        location: '/?error=err.authenticationFailed',
      })
    const lines = await api.db
      .selectFrom('auditEvents')
      .select('fields')
      .where('kind', '=', 'LoginFailed')
      .execute()
    expect(lines.filter(({ fields }) => (fields as { IpAddress?: string }).IpAddress === peer)).toHaveLength(
      1,
    )

    idp.state.person = { name: 'neighbour@example.com', attributes: { realName: 'Neighbour' } }
    const neighbour = api.browser(peer)
    const form = await askIdp(neighbour)
    expect(await sendForm(neighbour, form)).toMatchObject({ location: '/' })
  })
})

it('trusts only certificates that the metadata names, whichever of them', async () => {
  const metadata = await idp.metadata()
  const [descriptor = ''] = /<KeyDescriptor[\s\S]*<\/KeyDescriptor>/.exec(metadata) ?? []
  const both = metadata.replace(
    descriptor,
    descriptor.replace(bare(idp.keys.certificate), bare(stranger.certificate)) + descriptor,
  )
  await setSaml(api, 'user', { metadataFile: both, keyPair })
  for (const signer of [stranger, idp.keys]) {
    const scene = await setScene()
    const xml = signXml(scene.write({ name: scene.victim }), 'Assertion', { key: signer.key })
    expect(await sendForm(scene.browser, { SAMLResponse: toField(xml) })).toMatchObject({ location: '/' })
  }
  expect(new X509Certificate(stranger.certificate).subject).toBe('CN=stranger')
})

/** Nobody is signed in, nobody made; the page says one thing whatever the reason, and the audit log says the reason. */
async function expectRefusal(
  browser: Browser,
  form: { SAMLResponse?: string },
  reason: string | RegExp,
  wasSignedIn = false,
): Promise<void> {
  const before = await countUsers()
  expect(await sendForm(browser, form)).toEqual({ status: 303, location: '/?error=err.authenticationFailed' })
  const told = await lastReason()
  if (typeof reason === 'string') expect(told).toBe(reason)
  else expect(told).toMatch(reason)
  expect(await countUsers()).toBe(before)
  expect(await countUsers(mallory)).toBe(0)
  if (!wasSignedIn) expect((await browser.get('/whoami')).status).toBe(401)
}

async function countUsers(name?: string): Promise<number> {
  const users = await api.db.selectFrom('users').select('userName').execute()
  return users.filter(({ userName }) => name === undefined || userName === name).length
}

async function lastReason(): Promise<unknown> {
  const event = await api.db
    .selectFrom('auditEvents')
    .select(['kind', 'detail', 'fields'])
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  expect(event).toMatchObject({ kind: 'LoginFailed', fields: { ErrorMessage: 'err.authenticationFailed' } })
  return (event.detail as { reason: string }).reason
}

/** Another server process on the same database. */
function secondReplica() {
  return new Hono<HttpEnv>()
    .basePath('/api')
    .use(clientAddressOf(api.deps.config.trustedProxies))
    .route('/', signInRoutes(api.deps))
}
