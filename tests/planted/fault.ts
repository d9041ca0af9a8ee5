/** A fault that somebody might make, and the tests that must notice it. */
export type Fault = {
  name: string
  /** What would be wrong, in a few words. */
  what: string
  file: string
  /** Exact text that the file holds exactly once; else the runner fails, so that the table can't rot. */
  find: string
  replace: string
  finders: readonly Finder[]
}

/** A test file, and which of its tests are run: a pattern that fits their full titles. */
export type Finder = {
  test: string
  title: string
  /** Fits the message of the failure: a test that fails for another reason has found nothing. */
  because: RegExp
}

/** What one run of a finder said of each of its tests. */
export type TestReport = {
  /** A file that could not be run at all: it doesn't compile, or its preparation failed. */
  broken: string | null
  passed: string[]
  failed: { title: string; message: string }[]
}

/** Plants a fault in the text of its file. @throws Error unless what it replaces is there exactly once. */
export function plant(fault: Pick<Fault, 'name' | 'file' | 'find' | 'replace'>, text: string): string {
  const found = text.split(fault.find).length - 1
  if (found !== 1) throw new Error(`${fault.name}: its text is ${found} times in ${fault.file}, not once`)
  return text.replace(fault.find, () => fault.replace)
}

/** Null when a finder has found the fault, or in words why not. */
export function judge(report: TestReport, because: RegExp): string | null {
  if (report.broken !== null) return `the test could not run: ${firstLine(report.broken)}`
  if (report.failed.length === 0)
    return report.passed.length === 0 ? 'no test has this title' : 'all tests passed'
  if (report.failed.some(({ message }) => because.test(message))) return null
  return `failed for another reason: ${firstLine(report.failed[0]?.message ?? '')}`
}

const firstLine = (text: string): string => text.split('\n')[0]?.slice(0, 200) ?? ''
