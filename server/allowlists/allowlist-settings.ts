import { z } from 'zod'
import { definitions } from '../backends/definitions/index.ts'
import { apiError } from '../errors.ts'
import { newToken } from '../platform/random.ts'

/** A passive list's settings as they are recorded. */
export type AllowlistSettings = z.output<typeof definitions.allowlist.acl>

/** What an administrator says of a list, and what is the server's of it. */
export type ListWriting = {
  type: string
  settings: unknown
  /** The list as it is recorded; null when it is made. */
  stored: Readonly<Record<string, unknown>> | null
  /** An administrator knows that a list without a key can be read by the whole Internet. */
  confirmsWholeInternet: boolean
  path: readonly string[]
}

/**
 * A passive list's settings, with the server's part filled in; those of every other kind as they are.
 *
 * The token is drawn here, 256 random bits, and taken from nobody. What an update leaves out stays. Specification
 * README "Lists without a key".
 *
 * @throws err.invalidField for another token than the recorded one; err.confirmWholeInternet for a list without a key
 * and with a prefix of length 0, unless that is confirmed.
 */
export function completeListSettings({
  type,
  settings,
  stored,
  confirmsWholeInternet,
  path,
}: ListWriting): unknown {
  if (type !== definitions.allowlist.id) return settings
  const parsed = givenSchema.safeParse(settings)
  // Not even of the right shape: the kind's own schema says so.
  if (!parsed.success) return settings
  const { data: given } = parsed
  if (given.Token !== undefined && given.Token !== stored?.['Token'])
    throw apiError('err.invalidField', { extra: [...path, 'Token'].join('.') })
  const before = stored === null ? undefined : toAllowlistSettings(stored)
  if (isNewlyWholeInternet(given.AllowedIpAddresses, before) && !confirmsWholeInternet)
    throw apiError('err.confirmWholeInternet', { extra: [...path, 'AllowedIpAddresses'].join('.') })
  const apiKeyId = given.ApiKeyId === undefined ? (before?.ApiKeyId ?? null) : given.ApiKeyId
  const ranges = apiKeyId === null ? (before?.AllowedIpAddresses ?? []) : []
  return {
    ...given,
    Token: before?.Token ?? newToken(),
    ApiKeyId: apiKeyId,
    AllowAccessByIp: given.AllowAccessByIp ?? apiKeyId === null,
    AllowedIpAddresses: given.AllowedIpAddresses ?? ranges,
  }
}

/** The settings of a list that is recorded. What doesn't read is a fault of ours, and never an open list. */
export const toAllowlistSettings = (config: unknown): AllowlistSettings =>
  definitions.allowlist.acl.parse(config)

/** Where a list is read: the text form; `.json` in its place has the ends as well. */
export const toListUrl = (publicUrl: string, aclId: string, token: string): string =>
  `${publicUrl}/api/v1/allowlists/${aclId}/${token}.txt`

const givenSchema = z.looseObject({
  Token: z.string().optional(),
  ApiKeyId: z.string().nullish(),
  AllowAccessByIp: z.boolean().optional(),
  AllowedIpAddresses: z.array(z.looseObject({ prefix: z.string() })).optional(),
})

const isNewlyWholeInternet = (
  given: readonly { prefix: string }[] | undefined,
  before: AllowlistSettings | undefined,
): boolean => isWholeInternet(given) && !isWholeInternet(before?.AllowedIpAddresses)

const isWholeInternet = (ranges: readonly { prefix: string }[] = []): boolean =>
  ranges.some(({ prefix }) => /\/0+$/.test(prefix))
