import { describe, expect, it } from 'vitest'
import { validateSamlSchema } from './schema-validator.ts'

const response = (inner = '', attributes = '') =>
  `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_1" Version="2.0" IssueInstant="2026-01-01T00:00:00Z"${attributes}><samlp:Status><samlp:StatusCode Value="urn:x"/></samlp:Status>${inner}</samlp:Response>`

describe('the published schemas', () => {
  it('take a message that keeps to them', async () => {
    expect(await validateSamlSchema(response())).toBe('valid')
  })

  it.each([
    ['an element they don’t know', response('<samlp:Mallory/>'), /Mallory/],
    [
      'an element in another place',
      response('<samlp:Extensions><a xmlns="u"/></samlp:Extensions>'),
      /Extensions/,
    ],
    ['an attribute they don’t know', response('', ' Mallory="1"'), /Mallory/],
    ['an attribute that is missing', response().replace('ID="_1"', ''), /'ID' is required/],
    [
      'a signature without anything',
      response().replace('<samlp:Status>', '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>$&'),
      /Signature/,
    ],
    ['encryption without content', response('<saml:EncryptedAssertion/>'), /EncryptedAssertion/],
    ['another root', '<a/>', /'a'/],
    ['broken XML', `${response()}<`, /parser error/],
  ])('refuse %s', async (_, xml, reason) => {
    await expect(validateSamlSchema(xml)).rejects.toThrow(reason)
  })

  it('load nothing that a message points to', async () => {
    const xml = response(
      '',
      ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:x file:///etc/passwd"',
    )
    expect(await validateSamlSchema(xml)).toBe('valid')
  })

  it('are given up on when it takes too long, and the next message is held against them as ever', async () => {
    await expect(validateSamlSchema(response(), 1)).rejects.toThrow('no answer within 1 ms')
    expect(await validateSamlSchema(response())).toBe('valid')
  })
})
