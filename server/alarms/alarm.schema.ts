/** What somebody has to look at now. Each is read from the state itself, so it goes when it is no longer true. */
export const alarmKinds = [
  'closeFailed',
  'overdue',
  'agentConflict',
  'needsCredentials',
  'agentAway',
  'refreshFailed',
  'foreignEntries',
  'queueDegraded',
] as const
export type AlarmKind = (typeof alarmKinds)[number]

/** One alarm as the console's banner says it. Texts are `alarm.<Kind>`. */
export type Alarm = {
  Kind: AlarmKind
  /** A door may be open that should not be, or can't be closed: red. */
  IsUrgent: boolean
  /** Doors; entries for foreignEntries, backends for needsCredentials, agents for agentConflict, devices for refreshFailed. */
  Count: number
  /**
   * overdue: how many of them the kernel has ended by itself, though nobody has seen it yet. refreshFailed: how many
   * devices hold nothing that was taken off their list.
   */
  Ended: number
  /** The agents with the most of them, at most three, and how many there are. */
  Agents: { ID: string; Name: string }[]
  AgentCount: number
  /** queueDegraded: it doesn't answer, or drops jobs when its memory is full. */
  Cause?: QueueTrouble
}

/** What is wrong with the queue. */
export type QueueTrouble = 'down' | 'evicting'
