import type { JobsOptions, WorkerOptions } from 'bullmq'

/** Does one job. */
export type Handle = (name: string, data: unknown) => Promise<void>

/** The part of BullMQ's queue that is used; the same on both backends. */
export interface BullQueue {
  add: (name: string, data: unknown, options: JobsOptions) => Promise<unknown>
  resume: () => Promise<void>
  obliterate: (options: { force: boolean }) => Promise<void>
  close: () => Promise<void>
}

/** The part of BullMQ's worker that is used. */
export interface BullWorker {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'failed', listener: (job: { name: string } | undefined, error: Error) => void): unknown
  close: (force?: boolean) => Promise<void>
}

/** What differs between Redis and PostgreSQL. */
export interface QueueBackend {
  kind: 'redis' | 'postgres'
  /** Whether it answers now; never throws. */
  isUp: () => Promise<boolean>
  /** Whether it may drop jobs when its memory is full. */
  losesJobs: () => Promise<boolean>
  openQueue: (name: string) => BullQueue
  /** Starts a worker; `release` is called when it is closed. */
  openWorker: (name: string, handle: Handle) => { worker: BullWorker; release: () => void }
  close: () => Promise<void>
}

/** Options that the workers of both backends share. */
export const workerOptions = {
  concurrency: 4,
  // A replica that is killed leaves its job behind; 5 s later it is anybody's (decision 19).
  lockDuration: 5000,
  stalledInterval: 2500,
  maxStalledCount: 1_000_000,
  drainDelay: 5,
  runRetryDelay: 500,
  settings: { backoffStrategy: (attempts: number) => Math.min(100 * 2 ** Math.min(attempts, 20), 30_000) },
} satisfies Partial<WorkerOptions>
