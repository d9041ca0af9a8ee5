import { describe, expect, it } from 'vitest'
import { findXmlFault } from './xml-text.ts'

const limits = { characters: 300_000, depth: 3, elements: 5 }

describe('a text for the XML parser', () => {
  it.each([
    ['<a/>'],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<a b="1 > 0" c=\'"\'>text > more</a>'],
    ['<a><b><c/></b></a>'],
  ])('may be %s', (text) => {
    expect(findXmlFault(text, limits)).toBeUndefined()
  })

  it.each([
    ['<!DOCTYPE a><a/>', 'document type or entity declaration'],
    ['<!doctype a><a/>', 'document type or entity declaration'],
    ['<a><!ENTITY b "c"></a>', 'document type or entity declaration'],
    ['<a><!-- b --></a>', 'comment'],
    ['<a><![CDATA[b]]></a>', 'CDATA section'],
    ['<a><?b?></a>', 'processing instruction'],
    ['<?xml version="1.0"?><?xml version="1.0"?><a/>', 'processing instruction'],
    ['<?xml version="1.0" encoding="utf-16"?><a/>', 'another encoding than UTF-8'],
    ['<a><b><c><d/></c></b></a>', 'nested deeper than 3'],
    ['<a><b/><b/><b/><b/><b/></a>', 'more than 5 elements'],
    ['<a><b></a>', 'not well-formed'],
    ['<a b="<c>"/>', 'not well-formed'],
    ['<a', 'not well-formed'],
    ['a'.repeat(300_001), 'longer than 300000 characters'],
  ])('is not %j', (text, reason) => {
    expect(findXmlFault(text, limits)).toBe(reason)
  })

  it.each([
    ['open tags', '<a>'.repeat(80_000)],
    ['open quotes', '<a b="'.repeat(40_000)],
    ['signs alone', '<'.repeat(250_000)],
    ['one tag without end', `<a ${'b '.repeat(120_000)}`],
  ])('with a flood of %s is judged at once', (_, text) => {
    const begun = performance.now()
    expect(findXmlFault(text, limits)).toBeDefined()
    expect(performance.now() - begun).toBeLessThan(3_000)
  })
})
