import { describe, expect, it } from 'vitest'
import { createLog } from './log.ts'
import { toLogLine } from './log-line.ts'
import { Secret } from './secret.ts'

function collect() {
  const lines: string[] = []
  const log = createLog({ logLevel: 'info', replica: 'one' }, { write: (line) => void lines.push(line) })
  return { lines, log }
}

describe('the log', () => {
  it('writes one JSON object a line, with the replica and what children add', () => {
    const { lines, log } = collect()
    log.child({ agent: 'a1' }).info({ entries: 3 }, 'sent')
    log.debug('not at this level')
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      replica: 'one',
      agent: 'a1',
      entries: 3,
      msg: 'sent',
    })
  })

  it('never writes secrets', () => {
    const { lines, log } = collect()
    log.info({
      password: 'hunter2',
      user: { Token: 'hunter2' },
      req: { headers: { authorization: 'hunter2', 'set-cookie': 'hunter2' } },
    })
    log.info({ key: new Secret('hunter2') }, `with ${String(new Secret('hunter2'))}`)
    expect(lines.join()).not.toContain('hunter2')
    expect(lines.join()).toContain('«secret»')
  })

  it('is readable in a terminal, and a logged name cannot forge a line', () => {
    const { lines, log } = collect()
    log.error({ err: new Error('no route'), name: 'a\u001b[2J\nb' }, 'link lost')
    const shown = toLogLine(lines[0] ?? '')
    expect(shown).toMatch(/^\d\d:\d\d:\d\d\.\d{3} ERROR link lost name=a·\[2J·b\nError: no route\n/)
  })
})
