const second = 1_000
const minute = 60 * second

/** Time left in the steps in which it is shown, so that nothing is drawn anew between them: minutes, at last seconds. */
export function leftInSteps(milliseconds: number): number {
  const left = Math.max(0, milliseconds)
  return left >= minute ? downTo(minute, left) : downTo(second, left)
}

/** Time gone by in the steps in which it is shown: tenths below 10 s, then 5 s, from a minute on minutes. */
export function ageInSteps(milliseconds: number): number {
  const age = Math.max(0, milliseconds)
  if (age >= minute) return downTo(minute, age)
  return downTo(age < 10 * second ? second / 10 : 5 * second, age)
}

const downTo = (step: number, value: number): number => Math.floor(value / step) * step
