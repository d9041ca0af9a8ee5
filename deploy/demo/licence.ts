import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runLicenceCommand } from '../../server/cli/licence.ts'

/** A key pair of the demo's own, in its data folder, and a licence signed with it. */
export async function makeLicence(folder: string): Promise<{ publicKey: string; licence: string }> {
  await command(['keygen', '--out', folder])
  const inAYear = new Date(Date.now() + 365 * 86_400_000).toISOString().slice(0, 10)
  const licence = await command([
    ...['issue', '--key', join(folder, 'licence.key')],
    ...['--users', '25', '--sessions', '5', '--expires', inAYear, '--to', 'demo'],
  ])
  return { publicKey: await readFile(join(folder, 'licence.pub'), 'utf8'), licence: licence.trim() }
}

async function command(args: readonly string[]): Promise<string> {
  let out = ''
  let fault = ''
  const code = await runLicenceCommand(args, {
    out: (text) => {
      out += text
    },
    err: (text) => {
      fault += text
    },
  })
  if (code !== 0) throw new Error(`The demo's licence could not be made: ${fault.trim()}`)
  return out
}
