import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { linuxWizard } from '#machines/knoc-wizard.machine.ts'
import { auditKinds } from '#server/audit/audit.events.ts'
import { definitions } from '#server/backends/definitions/index.ts'
import { definitionFields } from '../forms/definition-fields.ts'

/** Keys that the compiler can't check, because they are put together while the console runs. */
const read = (file: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`../i18n/${file}`, import.meta.url), 'utf8'))
const texts = { ...read('en-AU.json'), ...read('en-AU.admin.json') }
const missing = (keys: readonly string[]) =>
  keys.filter((key) => texts[key] === undefined && texts[`${key}_other`] === undefined)

describe('the console’s texts', () => {
  it('name every kind of audit event', () => {
    expect(missing(auditKinds.map((kind) => `audit.${kind}`))).toEqual([])
  })

  it('name every field of every definition', () => {
    const labels = Object.values(definitions).flatMap(({ backend, acl }) =>
      [...definitionFields(backend), ...definitionFields(acl)].map(({ label }) => label),
    )
    expect(missing(labels)).toEqual([])
  })

  it('name every step of the wizard', () => {
    expect(missing(linuxWizard.steps.map(({ id }) => `admin.step.${id}`))).toEqual([])
  })

  it('say every banner in full', () => {
    const ids = [
      'unlicensed',
      'expiresSoon',
      'agentIncompatible',
      'userLimitOver',
      'userLimitFar',
      'userLimitBlocked',
      'userLimitReached',
      ...['critical', 'high', 'medium', 'low', 'default'].map((urgency) => `serverUpdate.${urgency}`),
    ]
    expect(missing(ids.flatMap((id) => [`banner.${id}.title`, `banner.${id}.body`]))).toEqual([])
  })

  it('say every standing warning of the server in full', () => {
    const codes = [
      'untrustedProxy',
      'plainHttp',
      'lookupCertificate',
      'lookupPortInUse',
      'lookupPortDenied',
      'lookupPortFailed',
    ]
    expect(missing(codes.flatMap((code) => [`warning.${code}.title`, `warning.${code}.body`]))).toEqual([])
  })

  it('are not the portal’s under another wording', () => {
    const portal = read('en-AU.json')
    expect(Object.keys(read('en-AU.admin.json')).filter((key) => key in portal)).toEqual([])
  })
})
