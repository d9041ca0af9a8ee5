import { isIP } from 'node:net'
import { z } from 'zod'
import {
  findEd25519Pem,
  findPemFault,
  isAddressOrCidr,
  isHostName,
  isKeyOf32Bytes,
  isKeyPairInFiles,
  isLoopbackHost,
  isOrigin,
  isPlainHttp,
  isRemoteHttp,
  isSecret,
  lookupPortNumbers,
  readLookupPorts,
} from './config-values.ts'
import { Secret } from './secret.ts'

/** What a person needs to know of one environment variable, beside what the schema itself says. */
export interface VariableHint {
  /** What it is for, one sentence. */
  description: string
  /** Which values are taken; the last part of a fault's line. */
  accepted: string
  /** How the default reads, where it isn't a fixed value. */
  defaultText?: string
  /** True when `<NAME>_FILE` may name a file that holds the value instead. */
  fileVariant?: true
}

/** Hints live on the schemas, so that help text, README test and fault messages can't drift from the rules. */
export const variableHints = z.registry<VariableHint>()

const flag = (hint: Omit<VariableHint, 'accepted'>, byDefault = false) =>
  z
    .stringbool({
      truthy: ['true', '1', 'yes', 'on'],
      falsy: ['false', '0', 'no', 'off'],
      error: 'is not a yes or no',
    })
    .default(byDefault)
    .register(variableHints, { ...hint, accepted: 'true or false' })

const url = (protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      'is not such a URL',
    )

const pemFile = (kind: 'certificate' | 'key', hint: Omit<VariableHint, 'accepted' | 'defaultText'>) =>
  z
    .string()
    .superRefine((path, context) => {
      const message = findPemFault(path, kind)
      if (message !== undefined) context.addIssue({ code: 'custom', message })
    })
    .optional()
    .register(variableHints, { ...hint, accepted: 'a path', defaultText: 'none' })

const familyHost = (family: 4 | 6) =>
  z
    .string()
    .toLowerCase()
    .refine((host) => isIP(host) === family || (isIP(host) === 0 && isHostName(host)), 'is no such host')
    .optional()
    .register(variableHints, {
      description: `Name of this server that has an IPv${family} address only, so that a browser shows its own of that family.`,
      accepted: `a host name, or an IPv${family} address`,
      defaultText: 'none',
    })

const toSecret = (value: string) => new Secret(value)

/** Every variable the server reads from the environment. The only list of them. */
export const environmentSchema = z
  .object({
    KNOC_DATA_DIR: z.string().default('./data').register(variableHints, {
      description: 'Folder of the embedded database, its password and the master key.',
      accepted: 'a path',
    }),
    KNOC_HOST: z
      .string()
      .refine((value) => isIP(value) !== 0 || value === 'localhost', 'is not an address')
      .default('::')
      .register(variableHints, {
        description: 'Address to listen on; by default every address of both families.',
        accepted: 'an IPv4 or IPv6 address of this host, or localhost',
        defaultText: ':: (0.0.0.0 where IPv6 is off)',
      }),
    KNOC_PORT: z
      .string()
      .regex(/^\d{1,5}$/, 'is not a number')
      .transform(Number)
      .refine((port) => port <= 65_535, 'is too large')
      .default(8080)
      .register(variableHints, {
        description: 'TCP port to listen on.',
        accepted: 'a port, 1 to 65535 (0: any free one)',
      }),
    KNOC_PUBLIC_URL: url(['http:', 'https:'])
      .refine(isOrigin, 'has a path, a query or credentials')
      .transform((value) => new URL(value).origin)
      .optional()
      .register(variableHints, {
        description: 'Where browsers and agents reach the server. https makes cookies Secure and sends HSTS.',
        accepted: 'http://host[:port] or https://host[:port], without a path',
        defaultText: 'http://localhost:KNOC_PORT',
      }),
    KNOC_ALLOW_HTTP: flag({
      description: 'Allow a public URL in plain http on another host than this one (inner tests only).',
    }),
    KNOC_ADMIN_USERNAME: z
      .string()
      .max(200, 'is longer than 200 characters')
      .optional()
      .register(variableHints, {
        description: 'User name of the first admin, created at start when there is no admin yet.',
        accepted: 'up to 200 characters, together with KNOC_ADMIN_PASSWORD',
        defaultText: 'none',
      }),
    KNOC_ADMIN_PASSWORD: z
      .string()
      .min(8, 'is shorter than 8 characters')
      .max(1024, 'is longer than 1024 characters')
      .transform(toSecret)
      .optional()
      .register(variableHints, {
        description: 'Password of the first admin.',
        accepted: '8 to 1024 characters, together with KNOC_ADMIN_USERNAME',
        defaultText: 'none',
        fileVariant: true,
      }),
    DATABASE_URL: url(['postgres:', 'postgresql:']).transform(toSecret).optional().register(variableHints, {
      description: 'PostgreSQL to use instead of the embedded one; needed for more than one replica.',
      accepted: 'postgres://user:password@host:port/database',
      defaultText: 'the embedded PostgreSQL in KNOC_DATA_DIR',
      fileVariant: true,
    }),
    REDIS_URL: url(['redis:', 'rediss:']).transform(toSecret).optional().register(variableHints, {
      description: 'Redis for the queue (maxmemory-policy noeviction).',
      accepted: 'redis://[user:password@]host:port[/number] or rediss://…',
      defaultText: 'the queue lives in PostgreSQL',
      fileVariant: true,
    }),
    KNOC_MASTER_KEY: z
      .string()
      .refine(isKeyOf32Bytes, 'is not 32 bytes in base64')
      .transform(toSecret)
      .optional()
      .register(variableHints, {
        description: 'Key that stored secrets are encrypted with, the same for every replica.',
        accepted: '32 bytes in base64 (openssl rand -base64 32); required with DATABASE_URL',
        defaultText: 'made once in KNOC_DATA_DIR when the database is embedded',
        fileVariant: true,
      }),
    KNOC_TRUSTED_PROXIES: z
      .string()
      .transform((value) =>
        value
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      )
      .refine((parts) => parts.every(isAddressOrCidr), 'holds something that is no address or CIDR')
      .refine((parts) => parts.every((part) => !/\/0+$/.test(part)), 'trusts the whole Internet')
      .default([])
      .register(variableHints, {
        description: 'Proxies whose forwarding headers are believed. Without it such requests get no grant.',
        accepted: 'addresses or CIDRs with commas between, e.g. 10.0.0.7,fd00::/64',
        defaultText: 'none',
      }),
    KNOC_IPV4_HOST: familyHost(4),
    KNOC_IPV6_HOST: familyHost(6),
    KNOC_LOOKUP_PORTS: z
      .string()
      .transform((value, context) => {
        const { ports, faults } = readLookupPorts(value)
        for (const message of faults) context.addIssue({ code: 'custom', message })
        return faults.length > 0 ? z.NEVER : ports
      })
      .default(() => lookupPortNumbers.map((port) => ({ port, at: port })))
      .register(variableHints, {
        description: 'Ports on which address discovery looks at browsers; each can be moved or switched off.',
        accepted: 'some of 443, 222, 3389, 8000, each as PORT, PORT=OTHER or PORT=off, e.g. 443=8443,222=off',
        defaultText: lookupPortNumbers.join(','),
      }),
    KNOC_TLS_CERT_FILE: pemFile('certificate', {
      description:
        'Certificate, with its chain, for https without a proxy; read again when the file changes.',
    }),
    KNOC_TLS_KEY_FILE: pemFile('key', {
      description: 'Private key of that certificate, without a password.',
    }),
    KNOC_TLS_FOR: z.enum(['all', 'lookup'], 'is neither').default('all').register(variableHints, {
      description:
        'Who speaks https with it: all, or the lookup ports alone, when a proxy does it for the rest.',
      accepted: 'all or lookup',
    }),
    KNOC_LISTENER: z.enum(['node', 'deno'], 'is no listener').default('node').register(variableHints, {
      description: 'deno is faster, only for use behind a proxy, and carries no agents.',
      accepted: 'node or deno',
    }),
    KNOC_LICENCE_PUBLIC_KEY: z
      .string()
      .transform((value, context) => {
        const pem = findEd25519Pem(value)
        if (pem === undefined) context.addIssue({ code: 'custom', message: 'is not an Ed25519 public key' })
        return pem ?? z.NEVER
      })
      .optional()
      .register(variableHints, {
        description: 'Public key that licences are checked against, offline.',
        accepted: 'Ed25519 SPKI as PEM, or its DER in base64',
        defaultText: 'none: no licence is valid',
        fileVariant: true,
      }),
    KNOC_LICENCE_SITE: url(['http:', 'https:']).optional().register(variableHints, {
      description: 'Licence server asked at a refresh.',
      accepted: 'an http or https URL',
      defaultText: 'none',
    }),
    KNOC_LOG_LEVEL: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'is no log level')
      .default('info')
      .register(variableHints, {
        description: 'Least level that is logged to stderr.',
        accepted: 'trace, debug, info, warn, error, fatal or silent',
      }),
    KNOC_METRICS_TOKEN: z
      .string()
      .regex(/^[\x21-\x7e]{16,256}$/, 'is shorter than 16 characters, longer than 256, or has spaces in it')
      .transform(toSecret)
      .optional()
      .register(variableHints, {
        description:
          'Bearer token that GET /metrics asks for. Without it only this host itself may read them.',
        accepted: '16 to 256 letters, digits and signs',
        defaultText: 'none',
        fileVariant: true,
      }),
    KNOC_REPLICA: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'is no replica name')
      .optional()
      .register(variableHints, {
        description:
          'Name of this replica; unique among those running. A lasting one keeps its queue over a restart.',
        accepted: '1 to 64 letters, digits, dots, dashes, underscores',
        defaultText: 'lasting with the embedded database, else random at each start',
      }),
    KNOC_CLOUD: flag({
      description: 'This installation is hosted: the console hides what its host looks after.',
    }),
    KNOC_SERVICE_WORKER: flag(
      {
        description:
          'Off takes the service worker back from every browser: hashed files are no longer kept there.',
      },
      true,
    ),
    KNOC_GRANT_LOOPBACK: flag({
      description: 'Demonstration only: loopback addresses may be granted. Needs a loopback KNOC_HOST.',
    }),
  })
  .refine((env) => isSecret(env.KNOC_MASTER_KEY) || !isSecret(env.DATABASE_URL), {
    path: ['KNOC_MASTER_KEY'],
    error: 'is missing, and replicas that make their own cannot read each other’s secrets',
    when: always,
  })
  .refine((env) => env.KNOC_ALLOW_HTTP || !isRemoteHttp(env.KNOC_PUBLIC_URL), {
    path: ['KNOC_PUBLIC_URL'],
    error:
      'is plain http on another host; passwords would cross the network in the clear (KNOC_ALLOW_HTTP=true to insist)',
    when: always,
  })
  .refine((env) => !env.KNOC_GRANT_LOOPBACK || isLoopbackHost(env.KNOC_HOST), {
    path: ['KNOC_GRANT_LOOPBACK'],
    error: 'is set, but KNOC_HOST is not a loopback address',
    when: always,
  })
  .refine((env) => (env.KNOC_ADMIN_USERNAME === undefined) === (env.KNOC_ADMIN_PASSWORD === undefined), {
    path: ['KNOC_ADMIN_USERNAME'],
    error: 'and KNOC_ADMIN_PASSWORD are only of use together',
    when: always,
  })
  .refine((env) => (env.KNOC_TLS_CERT_FILE === undefined) === (env.KNOC_TLS_KEY_FILE === undefined), {
    path: ['KNOC_TLS_CERT_FILE'],
    error: 'and KNOC_TLS_KEY_FILE are only of use together',
    when: always,
  })
  .refine(
    ({ KNOC_TLS_CERT_FILE: certificate, KNOC_TLS_KEY_FILE: key }) =>
      certificate === undefined || key === undefined || isKeyPairInFiles(certificate, key),
    {
      path: ['KNOC_TLS_KEY_FILE'],
      error: 'names a key that is not the one of the certificate in KNOC_TLS_CERT_FILE',
      when: always,
    },
  )
  .refine((env) => env.KNOC_TLS_CERT_FILE === undefined || !isPlainHttp(env.KNOC_PUBLIC_URL), {
    path: ['KNOC_TLS_CERT_FILE'],
    error: 'is set, but KNOC_PUBLIC_URL is plain http',
    when: always,
  })
  .refine(
    (env) =>
      env.KNOC_TLS_CERT_FILE === undefined || env.KNOC_TLS_FOR === 'lookup' || env.KNOC_LISTENER !== 'deno',
    {
      path: ['KNOC_TLS_FOR'],
      error: 'is all, but KNOC_LISTENER=deno is for use behind a proxy and speaks no https',
      when: always,
    },
  )
  .refine((env) => env.KNOC_IPV4_HOST === undefined || env.KNOC_IPV4_HOST !== env.KNOC_IPV6_HOST, {
    path: ['KNOC_IPV6_HOST'],
    error: 'is the same as KNOC_IPV4_HOST',
    when: always,
  })

/** Name of a variable, e.g. `KNOC_PORT`. */
export type VariableName = keyof typeof environmentSchema.shape

/** Every variable's name, in the order of the help text. */
export const variableNames = Object.keys(environmentSchema.shape) as VariableName[]

/** The hint of one variable. */
export function getVariableHint(name: VariableName): VariableHint {
  const hint = variableHints.get(environmentSchema.shape[name])
  if (hint === undefined) throw new Error(`The variable ${name} has no description.`)
  return hint
}

/** Rules over several variables are asked even when one of them is wrong by itself: all faults are listed at once. */
function always(): boolean {
  return true
}
