import { readFile } from 'node:fs/promises'
import type { TlsFiles } from './config.ts'
import { isKeyPair } from './config-values.ts'
import type { Log } from './log.ts'

/** A certificate with its private key, both in PEM. */
export type KeyPair = { cert: string; key: string }

/** The server's certificate as its files have it at the moment. */
export type Certificate = Awaited<ReturnType<typeof openCertificate>>

/**
 * Reads the certificate, and again whenever `look` is called, so that a renewed one is used without a restart. A
 * pair that doesn't fit, as while one of two files is written, changes nothing and is logged once.
 *
 * @throws Error when the first reading gives no pair.
 */
export async function openCertificate(
  { certificateFile, keyFile }: TlsFiles,
  log: Pick<Log, 'info' | 'warn'>,
) {
  let current = await read()
  let isFaulty = false
  const users = new Set<(pair: KeyPair) => void>()

  async function read(): Promise<KeyPair> {
    const [cert, key] = await Promise.all([readFile(certificateFile, 'utf8'), readFile(keyFile, 'utf8')])
    if (!isKeyPair(cert, key)) throw new Error('The certificate and the private key do not fit each other.')
    return { cert, key }
  }

  return {
    current: (): KeyPair => current,
    /** Calls `use` with each new pair, until the returned function is called. */
    onChange: (use: (pair: KeyPair) => void): (() => void) => {
      users.add(use)
      return () => void users.delete(use)
    },
    look: async (): Promise<void> => {
      try {
        const found = await read()
        isFaulty = false
        if (found.cert === current.cert && found.key === current.key) return
        current = found
        for (const use of users) use(found)
        log.info({ certificateFile }, 'uses the renewed certificate')
      } catch (err) {
        if (!isFaulty)
          log.warn({ err, certificateFile, keyFile }, 'cannot use the changed certificate, keeps the old one')
        isFaulty = true
      }
    },
  }
}
