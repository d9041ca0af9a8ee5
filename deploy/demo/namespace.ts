import { run } from './run.ts'

/** Removes what runs that were killed left: their namespaces are named `<prefix><process id>…`, and that one is gone. */
export async function removeLeftoverNamespaces(prefix: string): Promise<void> {
  const list = await run('ip', ['netns', 'list'])
  for (const line of list.split('\n')) {
    const name = line.split(' ')[0] ?? ''
    if (name.startsWith(prefix) && !isAlive(Number.parseInt(name.slice(prefix.length), 10)))
      await removeNamespace(name)
  }
}

/** Ends what still runs in there, then removes it; its veth pairs go with it. */
export async function removeNamespace(name: string): Promise<void> {
  const pids = await run('ip', ['netns', 'pids', name]).catch(() => '')
  for (const pid of pids.split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
  await run('ip', ['netns', 'delete', name]).catch(() => undefined)
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch {
    return false
  }
}
