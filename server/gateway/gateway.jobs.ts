import { z } from 'zod'

/**
 * A grant or revoke job: a nudge that names an agent and entries. It may be lost, doubled, reordered or stalled
 * without consequence; what is sent is read from the table at that moment (decision 21). A refresh job names an agent
 * whose devices fetch a list that changed.
 */
export const orderJobSchema = z.object({
  kind: z.enum(['grant', 'revoke', 'refresh']),
  agentId: z.uuid(),
  entryIds: z.array(z.uuid()).max(1_000),
  /** The highest generation among them; part of the job's id. */
  generation: z.number().int().nonnegative(),
})
export type OrderJob = z.infer<typeof orderJobSchema>

/** Id of a job: a repeated hand-over of the same orders is one job. BullMQ forbids ':' in ids. */
export const toJobId = (job: OrderJob): string => `${job.kind}-${job.agentId}-${job.generation}`
