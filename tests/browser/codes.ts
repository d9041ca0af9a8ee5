import { execFileSync } from 'node:child_process'

const stepSeconds = 30

/**
 * An authenticator app: `oathtool`, which we did not write. Each code is given once, as the server takes it once; the
 * one before, the present one and the next are in reach, after that it waits for the clock.
 */
export function createCodeApp(secret: string) {
  let last = 0
  return {
    /** The next unused code. */
    async next(): Promise<string> {
      const step = Math.max(currentStep() - 1, last + 1)
      while (step > currentStep() + 1) await new Promise((resolve) => setTimeout(resolve, 200))
      last = step
      return codeAt(secret, step)
    },
    /** The code given last: the server refuses it. */
    last: () => codeAt(secret, last),
  }
}

const currentStep = () => Math.floor(Date.now() / 1_000 / stepSeconds)

const codeAt = (secret: string, step: number): string =>
  execFileSync('oathtool', ['--totp', '--base32', '--now', `@${step * stepSeconds}`, secret], {
    encoding: 'utf8',
  }).trim()
