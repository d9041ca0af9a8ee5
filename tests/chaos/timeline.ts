/** What happened, in order, so that a breach can be understood. */
export type Timeline = ReturnType<typeof createTimeline>

type Moment = { at: number; text: string; about: readonly string[] }

/** Kept so long before a breach that its causes are in it. */
const shownMs = 25_000
const keptMs = 120_000

/** Keeps the last minutes. `about` names what a moment concerns: a door, an address, a person; nothing is everything. */
export function createTimeline() {
  let moments: Moment[] = []
  return {
    note: (text: string, about: readonly string[] = [], at = Date.now()) => {
      moments.push({ at, text, about })
      if (moments.length % 1_000 === 0) moments = moments.filter((moment) => at - moment.at < keptMs)
    },
    /** The lines before and shortly after an instant that concern any of these. */
    around: (at: number, names: readonly string[]): string[] =>
      moments
        .filter((moment) => moment.at > at - shownMs && moment.at < at + 2_000)
        .filter(({ about }) => about.length === 0 || about.some((name) => names.includes(name)))
        .map((moment) => `${((moment.at - at) / 1000).toFixed(3).padStart(8)} s  ${moment.text}`),
  }
}
