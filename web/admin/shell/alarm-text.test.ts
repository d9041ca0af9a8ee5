import { expect, it } from 'vitest'
import { type Alarm, alarmKinds } from '#server/alarms/alarm.schema.ts'
import german from '../../i18n/de.admin.json' with { type: 'json' }
import english from '../../i18n/en-AU.admin.json' with { type: 'json' }
import { alarmText } from './alarm-text.ts'

const alarm = (facts: Partial<Alarm>): Alarm => ({
  Kind: 'overdue',
  IsUrgent: true,
  Count: 3,
  Ended: 0,
  Agents: [],
  AgentCount: 0,
  ...facts,
})
const has = (texts: object, key: string) => key in texts || (`${key}_one` in texts && `${key}_other` in texts)

it('has a text for every alarm, in both languages', () => {
  const alarms = alarmKinds.flatMap((Kind) =>
    [0, 1, 3].flatMap((Ended) =>
      (['down', 'evicting'] as const).map((Cause) => alarm({ Kind, Ended, Cause })),
    ),
  )
  for (const { title, body } of alarms.map(alarmText))
    for (const texts of [english, german]) {
      expect(has(texts, title), title).toBe(true)
      expect(has(texts, body), body).toBe(true)
    }
})

it('says of doors past their end whether the kernel has ended none, some or all of them', () => {
  const bodies = [0, 1, 3].map((Ended) => alarmText(alarm({ Ended })).body)
  expect(bodies).toEqual(['alarm.overdue.standing', 'alarm.overdue.some', 'alarm.overdue.ended'])
})
