/** Descriptions that more than one knoc has: users see only one of them. Spec README "Entries in the status". */
export function duplicateNames(knocs: readonly { Name: string }[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const { Name } of knocs) (seen.has(Name) ? twice : seen).add(Name)
  return twice
}
