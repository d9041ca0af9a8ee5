import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { fetchIdpMetadata, readIdpMetadata } from './idp-metadata.ts'
import { createKeyPair } from './key-pair.ts'

const [first, second] = await Promise.all([createKeyPair('first'), createKeyPair('second')])
const stops: (() => unknown)[] = []
afterAll(() => Promise.all(stops.map((stop) => stop())))

describe('metadata of an identity provider', () => {
  it('tells its name, where to send browsers, and what it signs with', () => {
    expect(readIdpMetadata(metadata())).toEqual({
      entityId: 'https://idp.example/entity',
      signInUrl: 'https://idp.example/sso?tenant=1',
      signingCertificates: [bare(first.certificate)],
      wantsSignedRequests: false,
    })
  })

  it('may name several certificates, and those for encryption are none to sign with', () => {
    const keys = key(first.certificate) + key(second.certificate, 'signing') + key(first.certificate)
    const { signingCertificates } = readIdpMetadata(metadata({ keys }))
    expect(signingCertificates).toEqual([bare(first.certificate), bare(second.certificate)])
    expect(() => readIdpMetadata(metadata({ keys: key(first.certificate, 'encryption') }))).toThrow(
      'err.samlMetadataInvalid',
    )
  })

  it('may stand in a list of one, with comments and a byte order mark', () => {
    const list = `\uFEFF<?xml version="1.0"?><!-- ours --><md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${metadata()}</md:EntitiesDescriptor>`
    expect(readIdpMetadata(list).entityId).toBe('https://idp.example/entity')
  })

  it.each([
    ['no XML', 'hello'],
    ['nothing', ''],
    ['a page of HTML', '<html><body><p>Sign in</body></html>'],
    ['an entity', `<!DOCTYPE x [<!ENTITY a "b">]>${metadata()}`],
    ['a service provider’s', metadata().replaceAll('IDPSSODescriptor', 'SPSSODescriptor')],
    ['two providers', `<l>${metadata()}${metadata()}</l>`],
    ['another namespace', metadata().replace('urn:oasis:names:tc:SAML:2.0:metadata', 'urn:other')],
    ['no name', metadata().replace('entityID', 'id')],
    ['POST only', metadata().replace('HTTP-Redirect', 'HTTP-POST')],
    ['an address that is a script', metadata({ url: 'javascript:alert(1)' })],
    ['no certificate', metadata({ keys: '' })],
    ['deep nesting', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`],
    ['two million characters', metadata() + ' '.repeat(2_000_000)],
  ])('is refused with %s', (_, xml) => {
    expect(() => readIdpMetadata(xml)).toThrow('err.samlMetadataInvalid')
  })
})

describe('metadata by address', () => {
  it('is fetched', async () => {
    const url = await serve((_, response) => response.end(metadata()))
    expect((await fetchIdpMetadata(url)).entityId).toBe('https://idp.example/entity')
  })

  it.each<[string, RequestListener]>([
    ['answers an error', (_, response) => response.writeHead(500).end(metadata())],
    ['never answers', () => undefined],
    ['sends without end', (_, response) => void response.write('a'.repeat(1_500_000))],
    ['isn’t UTF-8', (_, response) => response.end(Buffer.from([0xff, 0xfe, 0x00]))],
  ])('is unreachable when the server %s', { timeout: 15_000 }, async (_, answer) => {
    await expect(fetchIdpMetadata(await serve(answer))).rejects.toThrow('err.samlMetadataUnreachable')
  })

  it('is unreachable where nobody listens, and over anything but http and https', async () => {
    await expect(fetchIdpMetadata('http://127.0.0.1:1/')).rejects.toThrow('err.samlMetadataUnreachable')
    await expect(fetchIdpMetadata('file:///etc/passwd')).rejects.toThrow('err.samlMetadataUnreachable')
  })

  it('is invalid when something else stands there', async () => {
    const url = await serve((_, response) => response.end('<html/>'))
    await expect(fetchIdpMetadata(url)).rejects.toThrow('err.samlMetadataInvalid')
  })
})

function metadata({
  url = 'https://idp.example/sso?tenant=1',
  keys = key(first.certificate),
}: {
  url?: string
  keys?: string
} = {}): string {
  return `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example/entity"><md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${keys}<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${url}"/></md:IDPSSODescriptor></md:EntityDescriptor>`
}

function key(pem: string, use?: string): string {
  return `<md:KeyDescriptor${use === undefined ? '' : ` use="${use}"`}><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>\n${bare(pem)}\n</X509Certificate></X509Data></KeyInfo></md:KeyDescriptor>`
}

function bare(pem: string): string {
  return pem.replace(/-----[A-Z ]+-----|\s/g, '')
}

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`
}
