import type { Alarm } from '#server/alarms/alarm.schema.ts'

/**
 * The keys of an alarm's banner. Doors past their end say whether the kernel has ended all of them, some, or none: only
 * then is it certain that one may be open.
 */
export function alarmText({ Kind, Count, Ended, Cause }: Alarm) {
  if (Kind === 'queueDegraded')
    return {
      title: `alarm.queueDegraded.${Cause ?? 'down'}.title`,
      body: `alarm.queueDegraded.${Cause ?? 'down'}.body`,
      count: Count,
    } as const
  if (Kind === 'overdue') {
    const which = Ended === 0 ? 'standing' : Ended < Count ? 'some' : 'ended'
    return { title: 'alarm.overdue.title', body: `alarm.overdue.${which}`, count: Count } as const
  }
  return { title: `alarm.${Kind}.title`, body: `alarm.${Kind}.body`, count: Count } as const
}
