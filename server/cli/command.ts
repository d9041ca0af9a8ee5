/** Where a command writes, so that tests can read it. */
export type CommandIo = { out: (text: string) => void; err: (text: string) => void }

/** Exit codes of all our command lines: done, failed, not understood. */
export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const

/** One command of `npx knoc`. */
export type Command = {
  /** One line for the list of commands. */
  summary: string
  /** The whole `--help`; without it the command answers that by itself. */
  help?: string
  /** Runs it; the exit code. */
  run: (args: readonly string[], io: CommandIo) => Promise<number>
}

/** Whether somebody only wants to read about it. */
export const wantsHelp = (args: readonly string[]): boolean => args.includes('--help') || args.includes('-h')

/** A message, and where to read on. */
export function usageError(io: CommandIo, message: string, command: string): number {
  io.err(`${message}\nRead \`npx ${command} --help\`.`)
  return exitCodes.usage
}
