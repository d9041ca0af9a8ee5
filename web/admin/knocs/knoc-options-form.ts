import { z } from 'zod'
import {
  type AclFields,
  aclFieldsSchema,
  grantTypeSchema,
  ipExclusionsSchema,
} from '#server/acls/acl.schema.ts'
import { rangesFor } from './ip-ranges.ts'

/** Limits of MaximumGrantDuration in the minutes that administrators type. Console §9. */
export const grantMinutes = { min: 5, max: 40_320, initial: 480 } as const
/** Limits of WhenServerSilent in seconds. Spec README "Wire values". */
export const silentSeconds = { min: 30, max: 3600, initial: 300 } as const

const restrictions = ['none', 'RFC1918', 'allowList', 'denyList'] as const

/** A number as an input holds it; the empty text is a missing number, not 0. */
const wholeNumber = ({ min, max }: { min: number; max: number }, message: string) =>
  z
    .union([z.string(), z.number()])
    .transform((value) => (value === '' ? Number.NaN : Number(value)))
    .pipe(z.number(message).int(message).min(min, message).max(max, message))

const range = z.object({ Start: z.string(), End: z.string() })

/** The options step's rule. What the wire has a rule for is held against the wire's own. */
export const optionsFormSchema = z
  .object({
    ClickToGrant: z.boolean(),
    GrantMinutes: wholeNumber(grantMinutes, 'form.grantMinutes'),
    RestrictionType: z.enum(restrictions),
    RfcType: z.enum(['allow', 'deny']),
    CustomRanges: z.array(range),
    GrantType: z.enum(['userIp', 'specifiedIps']),
    Ips: z.array(z.object({ Ip: z.string().trim() })),
    CGNATOpen: z.boolean(),
    HideFromUsers: z.boolean(),
    AutoBrowseUsers: z.boolean(),
    CutConnections: z.boolean(),
    ForeignEntries: z.enum(['report', 'remove']),
    WhenServerSilent: z.enum(['keep', 'close']),
    SilentSeconds: z.union([z.string(), z.number()]),
  })
  .superRefine((values, context) => {
    for (const [rule, wire, place] of [
      [ipExclusionsSchema, toIpExclusions(values), { from: 'Ranges', to: 'CustomRanges' }],
      [grantTypeSchema, toGrantType(values), { from: 'Ips', to: 'Ips' }],
    ] as const)
      for (const issue of rule.safeParse(wire).error?.issues ?? [])
        context.addIssue({
          code: 'custom',
          message: issue.message,
          path: issue.path.map((part) => (part === place.from ? place.to : part)),
        })
    if (values.WhenServerSilent === 'keep') return
    const seconds = wholeNumber(silentSeconds, 'form.silentSeconds').safeParse(values.SilentSeconds)
    if (!seconds.success)
      context.addIssue({ code: 'custom', message: 'form.silentSeconds', path: ['SilentSeconds'] })
  })
export type OptionsValues = z.input<typeof optionsFormSchema>
export type OptionsForm = z.output<typeof optionsFormSchema>

/** The part of an ACL that this form writes. */
export type AclOptions = Pick<
  AclFields,
  | 'ClickToGrant'
  | 'MaximumGrantDuration'
  | 'IpExclusions'
  | 'GrantType'
  | 'CGNATOpen'
  | 'HideFromUsers'
  | 'AutoBrowseUsers'
  | 'CutConnections'
  | 'ForeignEntries'
  | 'WhenServerSilent'
>

/** The options of a checked form on the wire: minutes become seconds, rows left empty go. */
export const toAclOptions = (form: OptionsForm): AclOptions => ({
  ClickToGrant: form.ClickToGrant,
  MaximumGrantDuration: form.GrantMinutes * 60,
  IpExclusions: aclFieldsSchema.shape.IpExclusions.parse(toIpExclusions(form)),
  GrantType: aclFieldsSchema.shape.GrantType.parse(toGrantType(form)),
  CGNATOpen: form.CGNATOpen,
  HideFromUsers: form.HideFromUsers,
  AutoBrowseUsers: form.AutoBrowseUsers,
  CutConnections: form.CutConnections,
  ForeignEntries: form.ForeignEntries,
  WhenServerSilent: form.WhenServerSilent === 'close' ? Number(form.SilentSeconds) : null,
})

/** What the form starts with: an ACL's options, or the specification's defaults. */
export const toOptionsValues = (acl?: AclOptions): OptionsValues => ({
  ClickToGrant: acl?.ClickToGrant ?? false,
  // A knoc without an end of its own has no minutes to show; the form must be filled before it is saved.
  GrantMinutes: acl === undefined ? grantMinutes.initial : toMinutes(acl.MaximumGrantDuration),
  RestrictionType: acl?.IpExclusions.RestrictionType ?? 'none',
  RfcType: acl?.IpExclusions.RfcType ?? 'allow',
  CustomRanges: acl && isCustom(acl) ? acl.IpExclusions.Ranges : [],
  GrantType: acl?.GrantType.Type ?? 'userIp',
  Ips: acl?.GrantType.Ips ?? [],
  CGNATOpen: acl?.CGNATOpen ?? false,
  HideFromUsers: acl?.HideFromUsers ?? false,
  AutoBrowseUsers: acl?.AutoBrowseUsers ?? false,
  CutConnections: acl?.CutConnections ?? true,
  ForeignEntries: acl?.ForeignEntries ?? 'report',
  WhenServerSilent: acl === undefined || acl.WhenServerSilent === null ? 'keep' : 'close',
  SilentSeconds: acl?.WhenServerSilent ?? silentSeconds.initial,
})

const isCustom = ({ IpExclusions }: AclOptions): boolean =>
  IpExclusions.RestrictionType === 'allowList' || IpExclusions.RestrictionType === 'denyList'

const toMinutes = (seconds: number | null): number | '' => (seconds === null ? '' : seconds / 60)

type Restricted = Pick<OptionsForm, 'RestrictionType' | 'RfcType' | 'CustomRanges'>

function toIpExclusions({ RestrictionType, RfcType, CustomRanges }: Restricted) {
  const rows = rangesFor(RestrictionType, CustomRanges)
  const Ranges = rows.map(({ Start, End }) => ({ Start: Start.trim(), End: End.trim() }))
  return { RestrictionType, RfcType, Ranges }
}

const toGrantType = ({ GrantType, Ips }: Pick<OptionsForm, 'GrantType' | 'Ips'>) => ({
  Type: GrantType,
  Ips: GrantType === 'specifiedIps' ? Ips : [],
})
