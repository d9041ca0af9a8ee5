import type { Reporter, TestCase } from 'vitest/node'

/** Says why a test had to be tried again that passed in the end: what comes back there is a fault of ours. */
export const retriesReporter: Reporter = {
  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result()
    if (state !== 'passed' || (test.diagnostic()?.retryCount ?? 0) === 0) return
    const reasons = (errors ?? []).map(({ message, stack }) => (stack ?? message).slice(0, 1_200))
    console.log(`tried again: ${test.module.relativeModuleId} > ${test.fullName}\n${reasons.join('\n')}`)
  },
}
