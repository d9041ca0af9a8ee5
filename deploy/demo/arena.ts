/**
 * Where the demo takes place: a protected service, something that keeps strangers from it, and where the server and
 * the agent run.
 */
export type Arena = {
  kind: 'kernel' | 'gate'
  /** One line for the reader: what enforces. */
  description: string
  /** Address the server listens on, and the origin people open. */
  host: string
  serverUrl: string
  /** URL of the protected service. */
  doorUrl: string
  /** Puts a command where server and agent have to run. */
  place: (command: readonly string[]) => readonly string[]
  /** What the server needs beside the usual environment. */
  serverEnv: Record<string, string>
  agentEnv: Record<string, string>
  /** The knoc's backend and list, as the API takes them. */
  knoc: { backend: Record<string, unknown>; acl: Record<string, unknown> }
  /** Takes everything down again; safe to call twice. */
  close: () => Promise<void>
}

/** Ports inside the arena. */
export const ports = { server: 8080, door: 2222 } as const
