import { describe, expect, it } from 'vitest'
import { privateRanges } from './ip-ranges.ts'
import { type OptionsValues, optionsFormSchema, toAclOptions, toOptionsValues } from './knoc-options-form.ts'

const faults = (values: Partial<OptionsValues>) =>
  (optionsFormSchema.safeParse({ ...toOptionsValues(), ...values }).error?.issues ?? []).map(
    ({ path, message }) => [path.join('.'), message],
  )
const wire = (values: Partial<OptionsValues> = {}) =>
  toAclOptions(optionsFormSchema.parse({ ...toOptionsValues(), ...values }))

describe('options of a knoc', () => {
  it('starts at 480 minutes, the user’s own address, no restriction, cutting connections', () => {
    expect(wire()).toEqual({
      ClickToGrant: false,
      MaximumGrantDuration: 28_800,
      IpExclusions: { RestrictionType: 'none', RfcType: 'allow', Ranges: [] },
      GrantType: { Type: 'userIp', Ips: [] },
      CGNATOpen: false,
      HideFromUsers: false,
      AutoBrowseUsers: false,
      CutConnections: true,
      ForeignEntries: 'report',
      WhenServerSilent: null,
    })
  })

  it('keeps ‘Open to CGNAT’ as it is, shown or not', () => {
    const acl = wire({ CGNATOpen: true })
    expect(acl.CGNATOpen).toBe(true)
    expect(toAclOptions(optionsFormSchema.parse(toOptionsValues(acl))).CGNATOpen).toBe(true)
  })

  it.each([
    ['5', true],
    ['40320', true],
    ['4', false],
    ['40321', false],
    ['7.5', false],
    ['', false],
    ['abc', false],
  ])('takes %j minutes: %s', (GrantMinutes, taken) => {
    expect(faults({ GrantMinutes })).toEqual(taken ? [] : [['GrantMinutes', 'form.grantMinutes']])
  })

  it('fills RFC 1918 with the private ranges and brings the custom ones back', () => {
    const CustomRanges = [{ Start: '203.0.113.1', End: '203.0.113.9' }]
    expect(wire({ RestrictionType: 'RFC1918', CustomRanges }).IpExclusions.Ranges).toEqual(privateRanges)
    expect(wire({ RestrictionType: 'allowList', CustomRanges }).IpExclusions.Ranges).toEqual(CustomRanges)
    expect(wire({ RestrictionType: 'none', CustomRanges }).IpExclusions.Ranges).toEqual([])
  })

  it('drops empty rows, and refuses half-filled ones and an allow list without a range', () => {
    const empty = { Start: ' ', End: '' }
    const good = { Start: '2001:db8::1', End: '2001:db8::f' }
    expect(wire({ RestrictionType: 'denyList', CustomRanges: [empty] }).IpExclusions.Ranges).toEqual([])
    expect(wire({ RestrictionType: 'allowList', CustomRanges: [empty, good] }).IpExclusions.Ranges).toEqual([
      good,
    ])
    expect(faults({ RestrictionType: 'allowList', CustomRanges: [{ Start: '10.0.0.1', End: '' }] })).toEqual([
      ['CustomRanges.0.End', 'err.invalidIpAddress'],
    ])
    expect(
      faults({ RestrictionType: 'denyList', CustomRanges: [{ Start: '010.0.0.1', End: '10.0.0.2' }] }),
    ).toEqual([['CustomRanges.0.Start', 'err.invalidIpAddress']])
    expect(faults({ RestrictionType: 'allowList', CustomRanges: [] })).toEqual([
      ['CustomRanges', 'err.invalidField'],
    ])
  })

  it('asks for an address only where addresses are specified', () => {
    expect(faults({ GrantType: 'userIp', Ips: [{ Ip: 'nonsense' }] })).toEqual([])
    expect(faults({ GrantType: 'specifiedIps', Ips: [] })).toEqual([['Ips', 'err.invalidIpAddress']])
    expect(faults({ GrantType: 'specifiedIps', Ips: [{ Ip: 'nonsense' }] })).toEqual([
      ['Ips.0.Ip', 'err.invalidIpAddress'],
    ])
    expect(wire({ GrantType: 'specifiedIps', Ips: [{ Ip: ' 192.0.2.1 ' }] }).GrantType.Ips).toEqual([
      { Ip: '192.0.2.1' },
    ])
  })

  it('closes after so many seconds of silence only when told so', () => {
    expect(wire({ WhenServerSilent: 'keep', SilentSeconds: '1' }).WhenServerSilent).toBeNull()
    expect(wire({ WhenServerSilent: 'close', SilentSeconds: '30' }).WhenServerSilent).toBe(30)
    expect(faults({ WhenServerSilent: 'close', SilentSeconds: '29' })).toEqual([
      ['SilentSeconds', 'form.silentSeconds'],
    ])
  })

  it('reads back what it wrote', () => {
    const options = wire({
      ClickToGrant: true,
      GrantMinutes: '60',
      RestrictionType: 'denyList',
      CustomRanges: [{ Start: '192.0.2.1', End: '192.0.2.2' }],
      GrantType: 'specifiedIps',
      Ips: [{ Ip: '2001:db8::1' }],
      WhenServerSilent: 'close',
      SilentSeconds: 90,
    })
    expect(toAclOptions(optionsFormSchema.parse(toOptionsValues(options)))).toEqual(options)
  })

  it('asks for minutes where a knoc has no end of its own', () => {
    const values = toOptionsValues({ ...wire(), MaximumGrantDuration: null })
    expect(optionsFormSchema.safeParse(values).success).toBe(false)
  })
})
