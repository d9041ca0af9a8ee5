/** A process of its own that starts the embedded PostgreSQL, says where it is, and waits to be killed. */
import { argv, stdout } from 'node:process'
import { startEmbeddedPostgres } from '#server/platform/embedded-postgres.ts'
import { createLog } from '#server/platform/log.ts'

const [dataDir = ''] = argv.slice(2)
const { connection } = await startEmbeddedPostgres({
  dataDir,
  log: createLog({ logLevel: 'error', replica: 'child' }),
})
stdout.write(`${connection.host}\n`)
setInterval(() => undefined, 60_000)
