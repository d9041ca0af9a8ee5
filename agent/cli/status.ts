import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentConfig } from '../config.ts'
import { readCutFaults } from '../cut/cut-faults.ts'
import { readEnrolment } from '../identity.ts'
import { openJournal } from '../journal.ts'
import { lockDataFolder } from '../lock.ts'
import { agentVersion } from '../version.ts'
import type { ExitCode } from './command-line.ts'

/** `knoc-agent status`: what the folder says of its agent, without asking anybody. */
export async function status(config: AgentConfig): Promise<ExitCode> {
  const { dataFolder } = config
  if (!existsSync(dataFolder)) {
    console.error(`knoc-agent: there is no folder ${dataFolder}; say which with --data`)
    return 1
  }
  const isRunning = hasAgent(dataFolder)
  const enrolment = readEnrolment(join(dataFolder, 'identity.json'))
  const path = join(dataFolder, 'journal.db')
  const known = existsSync(path) ? readJournal(path) : undefined
  const isLinked = isRunning && known?.link === 'linked'
  const rows: [string, string][] = [
    ['version', agentVersion],
    ['agent', enrolment?.agentId ?? 'not enrolled: start it once with the token from the console'],
    ['server', enrolment?.serverName ?? 'not reached yet'],
    ['running', isRunning ? 'yes' : 'no'],
    ['link', isRunning ? (known?.link ?? 'none yet') : 'none'],
    ['server’s truth', known?.truthAt ?? 'never heard'],
    ...(known?.lists ?? []).map((list): [string, string] => [list.key, `${list.open} open`]),
    ...(known?.cutFaults ?? []).map(({ list, text }): [string, string] => ['not cut', `${list}: ${text}`]),
  ]
  for (const [name, value] of rows) console.log(`${name.padEnd(16)} ${value}`)
  return isLinked ? 0 : 1
}

/** Whether somebody holds the folder's lock. */
function hasAgent(folder: string): boolean {
  const unlock = lockDataFolder(folder)
  unlock?.()
  return unlock === undefined
}

function readJournal(path: string) {
  const journal = openJournal(path)
  try {
    const truthAt = Number(journal.readMeta('truthAtMs') ?? 0)
    const link = journal.readMeta('link') as { state?: string } | undefined
    const open = journal.readLines().filter(({ entry }) => entry.desired === 'open')
    const lists = journal.readTargets().map(({ id, key }) => ({
      key,
      open: open.filter(({ entry }) => entry.targetId === id).length,
    }))
    return {
      truthAt: truthAt > 0 ? new Date(truthAt).toISOString() : undefined,
      link: link?.state,
      lists,
      cutFaults: readCutFaults(journal),
    }
  } finally {
    journal.close()
  }
}
