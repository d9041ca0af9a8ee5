import { z } from 'zod'
import { defineBackend, field } from './definition.ts'

/** A host name or address with an optional port, as it stands in the device's URL. */
const hostnamePattern =
  /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?)(?::[1-9]\d{0,4})?$/

/** Names of objects on the device: 63 characters, no markup. */
const objectName = /^[A-Za-z0-9_][A-Za-z0-9_. -]{0,62}$/

const isHostname = (text: string): boolean => hostnamePattern.test(text) && URL.canParse(`https://${text}/`)

/**
 * A Palo Alto firewall, or a Panorama in front of it, by its XML API.
 *
 * An ACL with an EDLName is the child of a passive list (Passive+): nothing is opened there, the firewall is told to
 * fetch the list whenever something on it changed. Specification README "Passive+".
 */
export const panos = defineBackend({
  id: 'panos',
  label: 'backend.panos',
  minAgentVersion: '1.9.0',
  needsAgent: true,
  expiry: 'agent',
  backend: z.strictObject({
    Hostname: z
      .string()
      .min(1)
      .max(300)
      .refine(isHostname, 'err.invalidField')
      .register(field, { label: 'field.Hostname', placeholder: 'firewall.example.com' }),
    ApiKey: z
      .string()
      .max(1024)
      .regex(/^[\x21-\x7E]+$/, 'err.invalidField')
      .register(field, { label: 'field.ApiKey', secret: true }),
    VSys: z
      .string()
      .regex(/^vsys[1-9]\d{0,2}$/, 'err.invalidField')
      .default('vsys1')
      .register(field, { label: 'field.VSys' }),
    Insecure: z.boolean().default(false).register(field, { label: 'field.Insecure' }),
  }),
  acl: z.strictObject({
    EDLName: z.string().regex(objectName, 'err.invalidField').register(field, { label: 'field.EDLName' }),
    /** Of the firewall behind a Panorama. */
    SerialNumber: z
      .string()
      .regex(/^[0-9A-Za-z]{6,32}$/, 'err.invalidField')
      .optional()
      .register(field, { label: 'field.SerialNumber' }),
  }),
  targets: ({ agentId, backend, acl }) => [
    {
      families: [4, 6],
      key: [
        'panos',
        agentId,
        backend.Hostname.toLowerCase(),
        acl.SerialNumber ?? '',
        backend.VSys,
        acl.EDLName,
      ].join(':'),
      list: {
        EDLName: acl.EDLName,
        ...(acl.SerialNumber !== undefined && { SerialNumber: acl.SerialNumber }),
      },
    },
  ],
})
