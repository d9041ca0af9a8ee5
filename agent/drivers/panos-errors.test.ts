import { describe, expect, it } from 'vitest'
import { toReply } from './panos-errors.ts'

const asked = { hostname: 'fw.test', apiKey: 'LUFRPT1k', vsys: 'vsys1', target: undefined }
const replyTo = (text: string, status = 200) => toReply({ status, text }, asked)

describe('an answer of the XML API', () => {
  it.each([
    [
      '<response status="success"><result>EDL refresh job enqueued</result></response>',
      'EDL refresh job enqueued',
    ],
    [
      '<response status="success" code="19"><result><msg><line>one</line><line>two</line></msg></result></response>',
      'one; two',
    ],
    ["<?xml version='1.0'?>\n<response status = 'success'><result/></response>\n", ''],
    ['<response status="success"><msg> a\n\n<b>c</b>\t&lt;d&gt; </msg></response>', 'a c <d>'],
    [
      '<response status="success"><result>list failed-logins: job enqueued</result></response>',
      'list failed-logins: job enqueued',
    ],
  ])('is taken as done: %s', (text, words) => {
    expect(replyTo(text)).toEqual({ words })
  })

  it.each<[string, string, number?]>([
    ['<response status="success"><result>EDL jit not found</result></response>', 'listMissing'],
    ['<response status="success"><result>ok</result></response>', 'deviceRefused', 500],
    ['<response status="unknown"/>', 'deviceRefused'],
    ['<response status="error" code="13"><msg><line>Object not found</line></msg></response>', 'listMissing'],
    [
      "<response status = 'error' code = '22'><msg><line>Session timed out</line></msg></response>",
      'keyRefused',
      403,
    ],
    ['<response status="error" code="17"><msg><line>vsys9 is invalid</line></msg></response>', 'unknownVsys'],
    ['<response status="error"><msg><line>7777 not connected</line></msg></response>', 'deviceRefused'],
    ['<response><result>no status</result></response>', 'badAnswer'],
    ['<other status="success"/>', 'badAnswer'],
    ['', 'badAnswer'],
    ['<response status="success"/><response status="success"/>', 'badAnswer'],
    ['<response status="success" status="error"/>', 'badAnswer'],
    ['<html/>', 'keyRefused', 403],
    ['<html/>', 'keyRefused', 401],
    ['<html/>', 'deviceBusy', 429],
  ])('is taken as refused: %s is %s', (text, code, status) => {
    expect(replyTo(text, status)).toMatchObject({ error: { code } })
  })

  it('is told without the key, without signs that move a cursor, and not at length', () => {
    const told = (words: string) => {
      const reply = replyTo(`<response status="error"><msg>${words}</msg></response>`)
      return 'error' in reply ? reply.error.text : ''
    }
    expect(told('the key LUFRPT1k is odd')).toBe('fw.test refused the command: “the key … is odd”')
    expect(told('a\u200b\u202e\r\nb')).toBe('fw.test refused the command: “a b”')
    expect(told('x'.repeat(5_000)).length).toBeLessThan(400)
  })

  it('is no reason to fail, however deep', () => {
    const deep = `<response status="error">${'<a>'.repeat(9_000)}${'</a>'.repeat(9_000)}</response>`
    expect(replyTo(deep)).toHaveProperty('error')
  })
})
