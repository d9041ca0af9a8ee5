import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

const tokenFileSchema = z.strictObject({ server: z.string(), token: z.string().regex(/^[\w-]{20,200}$/) })

/** The token of an earlier run at this server; undefined when there is none or it is another server's. */
export function readTokenFile(path: string, server: URL): string | undefined {
  try {
    const { server: origin, token } = tokenFileSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
    return origin === server.origin ? token : undefined
  } catch {
    return undefined
  }
}

/** Keeps a token for a later run. The file is made anew for its owner alone: no link is followed. */
export function writeTokenFile(path: string, server: URL, token: string): void {
  rmSync(path, { force: true })
  const text = `${JSON.stringify({ server: server.origin, token })}\n`
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
}

/** Takes it away, once its session has ended. */
export const removeTokenFile = (path: string): void => rmSync(path, { force: true })
