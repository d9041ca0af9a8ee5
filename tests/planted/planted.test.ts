import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { type Copy, copyTree } from './copy.ts'
import { judge, plant, type TestReport } from './fault.ts'
import { faults } from './faults.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const report = (given: Partial<TestReport>): TestReport => ({
  broken: null,
  passed: [],
  failed: [],
  ...given,
})

describe('the table of planted faults', () => {
  it.each(faults)('still fits the code: $name', (fault) => {
    const text = readFileSync(`${root}${fault.file}`, 'utf8')
    expect(plant(fault, text)).not.toBe(text)
    expect(fault.finders.length).toBeGreaterThan(0)
    for (const { test } of fault.finders) expect(existsSync(`${root}${test}`)).toBe(true)
  })

  it('names each fault once', () => {
    expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length)
  })

  it('is refused where its text is missing or there twice', () => {
    const fault = { name: 'a fault', file: 'a.ts', find: 'one', replace: 'two' }
    expect(plant(fault, 'one and $& other')).toBe('two and $& other')
    expect(() => plant(fault, 'nothing')).toThrow('0 times')
    expect(() => plant(fault, 'one one')).toThrow('2 times')
  })
})

describe('a fault', () => {
  it.each([
    ['a test fails for the right reason', { failed: [{ title: 't', message: 'not within 5 ms' }] }, null],
    ['all pass', { passed: ['t'] }, /all tests passed/],
    ['no test is run', {}, /no test has this title/],
    [
      'a test fails for another reason',
      { failed: [{ title: 't', message: 'TypeError: x' }] },
      /another reason/,
    ],
    ['it does not even compile', { broken: 'SyntaxError' }, /could not run: SyntaxError/],
  ] as const)('is judged when %s', (_, given, verdict) => {
    const missed = judge(report(given as Partial<TestReport>), /not within/)
    if (verdict === null) expect(missed).toBeNull()
    else expect(missed).toMatch(verdict)
  })

  let copy: Copy | undefined
  afterAll(() => copy?.remove())

  it('is found in a copy, which is whole again afterwards', { timeout: 120_000 }, async () => {
    copy = copyTree()
    const fault = faults.find(({ name }) => name === 'stale-generation')
    const finder = fault?.finders[0]
    if (fault === undefined || finder === undefined) throw new Error('the table has no such fault')
    const takeOut = copy.sow(fault)
    expect(judge(await copy.run(finder), finder.because)).toBeNull()
    takeOut()
    const { passed, failed, broken } = await copy.run(finder)
    expect({ failed, broken }).toEqual({ failed: [], broken: null })
    expect(passed).toHaveLength(1)
  })
})
