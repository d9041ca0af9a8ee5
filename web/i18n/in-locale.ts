/** Compares names as a language orders them: 'Ä' beside 'a', 'Host 9' before 'Host 10'. */
export const nameOrder = (locale: string): ((one: string, other: string) => number) =>
  new Intl.Collator(locale, { numeric: true, sensitivity: 'base' }).compare

/** Several things in one text, joined as a language does it. */
export const listOf = (things: readonly string[], locale: string): string =>
  new Intl.ListFormat(locale, { type: 'unit' }).format(things)
