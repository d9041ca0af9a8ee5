import { describe, expect, it } from 'vitest'
import { findReturn, returnAddress, toReferrer } from './referrer.ts'
import { anEntry } from './testing/an-entry.ts'

const app = anEntry({ ACLID: 'app', URL: 'https://app.example.com/tool' })
const site = anEntry({ ACLID: 'site', URL: 'https://app.example.com' })
const odd = anEntry({ ACLID: 'odd', URL: 'ssh://app.example.com' })

/** The address that a browser would go to, null for none. */
function returnsTo(text: string, entries = [app]) {
  const url = toReferrer(text)
  if (url === null) return null
  const entry = findReturn(url, entries)
  return entry ? returnAddress(url, entry) : null
}

describe('?referrer= returns the user to the page that sent them, only when it is the base of one of their entries', () => {
  it.each([
    ['https://app.example.com/tool', 'https://app.example.com/tool'],
    ['https://app.example.com/tool/', 'https://app.example.com/tool/'],
    ['https://app.example.com/tool/a/b?x=1&y=%2F#part', 'https://app.example.com/tool/a/b?x=1&y=%2F#part'],
    [
      'https://APP.example.com:443/tool?next=https://evil.example',
      'https://app.example.com/tool?next=https://evil.example',
    ],
    ['https://app.example.com/tool/../tool/a', 'https://app.example.com/tool/a'],
  ])('goes to %s', (given, address) => {
    expect(returnsTo(given)).toBe(address)
  })

  it.each([
    // Another origin, however it is dressed.
    'https://evil.example/tool',
    'https://app.example.com.evil.example/tool',
    'https://evil.example/https://app.example.com/tool',
    'https://evilapp.example.com/tool',
    'https://app.example.com./tool',
    'https://app.example.com:8443/tool',
    'http://app.example.com/tool',
    'https://app.example.com@evil.example/tool',
    'https://app.example.com:443@evil.example/tool',
    'https://user:secret@app.example.com/tool',
    'https://@app.example.com/tool',
    'https://app.example.com%2fevil.example/tool',
    'https://аpp.example.com/tool',
    // What browsers repair.
    'https:\\\\app.example.com\\tool',
    'https://app.example.com\\@evil.example/tool',
    'https://evil.example\\@app.example.com/tool',
    'https:app.example.com/tool',
    'https:/app.example.com/tool',
    'https:///app.example.com/tool',
    ' https://app.example.com/tool',
    'https://app.example.com/tool\t',
    'ht\ntps://app.example.com/tool',
    'https://app.exa\tmple.com/tool',
    'https://app.example.com/to\u0000ol',
    // Not of the web.
    'javascript:alert(1)//https://app.example.com/tool',
    'data:text/html,<script>alert(1)</script>',
    'blob:https://app.example.com/tool',
    'view-source:https://app.example.com/tool',
    '//app.example.com/tool',
    '/home/new',
    'app.example.com/tool',
    '',
    // Beside the entry's path.
    'https://app.example.com/',
    'https://app.example.com/tools',
    'https://app.example.com/tool.evil',
    'https://app.example.com/tool%2f..%2fadmin',
    'https://app.example.com/tool/%2e%2e%2fadmin',
    'https://app.example.com/tool/%252e%252e/admin',
    'https://app.example.com/tool/..%5cadmin',
    'https://app.example.com/tool/../admin',
    'https://app.example.com/tool/%2e%2e/admin',
    'https://app.example.com/other/tool',
    'https://app.example.com//tool',
    'https://app.example.com/TOOL',
    `https://app.example.com/tool/${'a'.repeat(2_048)}`,
  ])('never goes to %j', (given) => {
    expect(returnsTo(given)).toBeNull()
  })

  it('needs an entry of the web, and one at all', () => {
    expect(returnsTo('https://app.example.com/tool', [odd])).toBeNull()
    expect(returnsTo('ssh://app.example.com/tool', [odd])).toBeNull()
    expect(returnsTo('https://app.example.com/tool', [anEntry({ URL: '' })])).toBeNull()
    expect(returnsTo('https://app.example.com/tool', [])).toBeNull()
  })

  it('takes the entry that says most, and of equals the one that stands open', () => {
    const url = 'https://app.example.com/tool/x'
    expect(findReturn(url, [site, app])?.ACLID).toBe('app')
    const open = anEntry({ ACLID: 'open', URL: app.URL, Status: 5 })
    expect(findReturn(url, [anEntry({ ACLID: 'shut', URL: app.URL, Status: 4 }), open])?.ACLID).toBe('open')
  })

  it('brings the one-time token along', () => {
    const entry = anEntry({ URL: app.URL, Config: { UriToken: 't&1' } })
    expect(returnsTo('https://app.example.com/tool?x=1#a', [entry])).toBe(
      'https://app.example.com/tool?x=1&knoc_token=t%261#a',
    )
  })
})
