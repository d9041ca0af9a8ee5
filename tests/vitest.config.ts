import { defineConfig } from 'vitest/config'
import { FileOrder } from './support/file-order.ts'
import { retriesReporter } from './support/retries-reporter.ts'

/** All tests, one process per file; real services are started once by the global set-up. */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: ['{server,agent,machines,web,tests,migrations}/**/*.test.{ts,tsx}'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['tests/support/services.ts'],
    reporters: ['default', retriesReporter],
    sequence: { sequencer: FileOrder },
    pool: 'forks',
    // On two cores: half of the time a test waits for something.
    maxWorkers: 4,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    // What is polled for comes when it comes; what was promised in a time has a bound of its own.
    expect: { poll: { timeout: 10_000 } },
  },
})
