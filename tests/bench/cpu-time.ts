import { readdirSync, readFileSync } from 'node:fs'

/** Ticks of the processor's clock in a second, as Linux counts them for programs. */
const ticksPerSecond = 100

/**
 * Processor time that a process and everything it started have used, in milliseconds; ended ones too, when somebody
 * waited for them. Linux only; NaN elsewhere.
 */
export function cpuMsOf(pid: number): number {
  try {
    const processes = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap(readProcess)
    const members = new Set([pid])
    // Parents come before their children only in the list's order, which is nobody's promise: until nothing is new.
    for (let known = 0; known !== members.size; ) {
      known = members.size
      for (const process of processes) if (members.has(process.parent)) members.add(process.pid)
    }
    const ticks = processes.filter((process) => members.has(process.pid)).map(({ ticks }) => ticks)
    return (ticks.reduce((sum, of) => sum + of, 0) / ticksPerSecond) * 1000
  } catch {
    return Number.NaN
  }
}

function readProcess(pid: string): { pid: number; parent: number; ticks: number }[] {
  try {
    // The program's name is in parentheses and may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return [{ pid: Number(pid), parent: Number(fields[1]), ticks }]
  } catch {
    return []
  }
}
