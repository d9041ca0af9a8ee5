import { createLog } from '../log.ts'
import { type ComposeOptions, composeAgent } from './compose.ts'

/** An agent in a process of its own, for tests that kill it. Says `ready` when it looks for the server. */
const options = JSON.parse(process.argv[2] ?? '{}') as ComposeOptions
const { agent } = composeAgent({ ...options, log: createLog({ level: 'error', pretty: false }) })
await agent.start()
process.stdout.write('ready\n')
