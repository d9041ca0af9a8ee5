import { env } from 'node:process'

/** In CI a program that is missing fails the tests; elsewhere it only skips them, loudly. */
export const isCi: boolean = (env.CI ?? '') !== '' && env.CI !== 'false'
