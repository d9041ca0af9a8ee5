import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { aHost, hasKernel } from '#tests/support/host.ts'

/** Measures in a network namespace of its own; see grant-inside.ts. Exit code: 0 when everything was measured. */
export async function runGrantBench({ n }: { n: number }): Promise<number> {
  if (!hasKernel()) {
    console.error('The bench needs the real kernel: root on Linux, with ipset, iptables and ip.')
    return 1
  }
  const host = await aHost()
  try {
    const inside = fileURLToPath(new URL('./grant-inside.ts', import.meta.url))
    const command = [process.execPath, 'run', '--quiet', '--allow-all', inside, String(n), host.folder]
    const [file = '', ...args] = host.place(command)
    const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit'] })
    const [code] = (await once(child, 'exit')) as [number | null]
    return code ?? 1
  } finally {
    await host.close()
  }
}
