import { z } from 'zod'
import { requiredText } from '../platform/wire.schema.ts'

const addressSchema = z.union([z.ipv4(), z.ipv6()], 'err.invalidIpAddress')

/** From where an entry may be granted at all. Console §3 and §5, spec README "IP restrictions". */
export const ipExclusionsSchema = z
  .strictObject({
    RestrictionType: z.enum(['none', 'RFC1918', 'allowList', 'denyList']).default('none'),
    RfcType: z.enum(['allow', 'deny']).default('allow'),
    Ranges: z
      .array(
        z
          .strictObject({ Start: z.string().trim().max(64), End: z.string().trim().max(64) })
          .superRefine((range, context) => {
            if (range.Start === '' && range.End === '') return
            for (const side of ['Start', 'End'] as const)
              if (!addressSchema.safeParse(range[side]).success)
                context.addIssue({ code: 'custom', message: 'err.invalidIpAddress', path: [side] })
          }),
      )
      .max(256)
      .default([])
      .transform((ranges) => ranges.filter((range) => range.Start !== '')),
  })
  .superRefine((value, context) => {
    if (value.RestrictionType === 'allowList' && value.Ranges.length === 0)
      context.addIssue({ code: 'custom', message: 'err.invalidField', path: ['Ranges'] })
  })

/** The user's own address, or fixed ones in its place. */
export const grantTypeSchema = z
  .strictObject({
    Type: z.enum(['userIp', 'specifiedIps']).default('userIp'),
    Ips: z
      .array(z.strictObject({ Ip: addressSchema }))
      .max(64)
      .default([]),
  })
  .superRefine((value, context) => {
    if (value.Type === 'specifiedIps' && value.Ips.length === 0)
      context.addIssue({ code: 'custom', message: 'err.invalidIpAddress', path: ['Ips'] })
  })

/** Rules of an ACL's fields, without their defaults: creations add these, updates keep what is recorded. */
const rules = {
  Description: requiredText(256),
  /** Any scheme; only http and https are shown as links. */
  URL: z.string().trim().max(2048),
  Category: z.string().trim().max(64),
  Icon: z
    .string()
    .trim()
    .max(64)
    .regex(/^[a-z0-9-]*$/),
  ClickToGrant: z.boolean(),
  CGNATOpen: z.boolean(),
  HideFromUsers: z.boolean(),
  HideFromAdmins: z.boolean(),
  AutoBrowseUsers: z.boolean(),
  /** Seconds, whole minutes; null = no end of its own. */
  MaximumGrantDuration: z
    .number()
    .int()
    .min(300, 'err.maximumGrantDurationInvalid')
    .max(2_419_200, 'err.maximumGrantDurationInvalid')
    .multipleOf(60, 'err.maximumGrantDurationInvalid')
    .nullable(),
  IpExclusions: ipExclusionsSchema,
  GrantType: grantTypeSchema,
  /** Null = keep until the end; otherwise close after so many seconds without the server. */
  WhenServerSilent: z.number().int().min(30).max(3600).nullable(),
  CutConnections: z.boolean(),
  ForeignEntries: z.enum(['report', 'remove']),
  /** One key, the type, with that type's ACL settings. */
  Config: z.record(z.string(), z.unknown()),
}

/** Fields of an ACL without what ties it to a backend; a knoc's options form is drawn from it. */
export const aclFieldsSchema = z.strictObject({
  ID: z.uuid().optional(),
  Description: rules.Description,
  URL: rules.URL.default(''),
  Category: rules.Category.default('Default'),
  Icon: rules.Icon.default('server'),
  ClickToGrant: rules.ClickToGrant.default(false),
  CGNATOpen: rules.CGNATOpen.default(false),
  HideFromUsers: rules.HideFromUsers.default(false),
  HideFromAdmins: rules.HideFromAdmins.default(false),
  AutoBrowseUsers: rules.AutoBrowseUsers.default(false),
  MaximumGrantDuration: rules.MaximumGrantDuration.default(null),
  IpExclusions: rules.IpExclusions.prefault({}),
  GrantType: rules.GrantType.prefault({}),
  WhenServerSilent: rules.WhenServerSilent.default(null),
  CutConnections: rules.CutConnections.default(true),
  ForeignEntries: rules.ForeignEntries.default('report'),
  Config: rules.Config,
})
export type AclFields = z.output<typeof aclFieldsSchema>

/** The same in an update: what is absent stays. */
export const aclChangeSchema = z.strictObject({ ID: z.uuid().optional(), ...rules }).partial()
export type AclChange = Omit<z.output<typeof aclChangeSchema>, 'ID'>

/** Says that a list without a key may be read by the whole Internet. Specification README "Lists without a key". */
export const confirmation = { ConfirmWholeInternet: z.boolean().default(false) }

/** POST /api/admin/acls. */
export const aclSchema = z.strictObject({
  ...aclFieldsSchema.shape,
  BackendID: z.uuid(),
  ParentID: z.uuid().nullish(),
  ...confirmation,
})

/** PUT /api/admin/acls/{id}. */
export const aclUpdateSchema = z.strictObject({
  ...aclChangeSchema.shape,
  BackendID: z.uuid().optional(),
  ParentID: z.uuid().nullish(),
  ...confirmation,
})

/** What an ACL or a backend is in a Passive+ knoc; null for everything else. Specification README "Passive+". */
export type PassivePlusPart = 'parent' | 'child' | null

/** One ACL as the console's list of ACLs sees it. */
export type AclRow = AclFields & {
  ID: string
  BackendID: string
  BackendName: string
  ParentID: string | null
  /** A part of a Passive+ knoc is deleted with the whole only. */
  PassivePlus: PassivePlusPart
  LastModifiedAt: string
  LastModifiedBy: string | null
}
