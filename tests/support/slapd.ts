import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aCertificate } from './certificate.ts'
import { findProgram } from './debian.ts'
import { startProgram } from './process.ts'
import { freePort } from './redis.ts'
import { until } from './until.ts'

/** Where everything of the test directory stands. */
export const base = 'dc=example,dc=test'
export const serviceDn = `uid=svc,${base}`
export const servicePassword = 'the service account’s own'

/** A person's name there; the password is the user name and ` of the directory`. */
export const dnOf = (userName: string): string => `uid=${userName},ou=people,${base}`
export const directoryPasswordOf = (userName: string): string => `${userName} of the directory`

/** An OpenLDAP of a test's own: ldap with StartTLS, ldaps, and ldapi. */
export type Slapd = Awaited<ReturnType<typeof startSlapd>>

/**
 * Starts slapd on ports of its own, its certificate for `localhost` only, with people (ada, grace, twins that share a mail address, one without a
 * password) and groups. It takes binds without a password, as many directories do: it proves nothing, and refusing
 * it is ours. Ask `requireProgram('slapd')` first.
 */
export async function startSlapd() {
  const folder = mkdtempSync(join(tmpdir(), 'knoc-slapd-'))
  const [port, tlsPort] = [await freePort(), await freePort()]
  const socket = join(folder, 'ldapi')
  const files = aCertificate(folder, 'DNS:localhost')
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  mkdirSync(join(folder, 'db'))
  const conf = file('slapd.conf', toConf({ folder, ...files }))
  run('/usr/sbin/slapadd', ['-f', conf, '-l', file('base.ldif', toLdif())])

  const url = `ldap://127.0.0.1:${port}`
  const socketUrl = `ldapi://${encodeURIComponent(socket)}`
  const listen = `${url}/ ldaps://127.0.0.1:${tlsPort}/ ${socketUrl}/`
  const program = startProgram([findProgram('slapd') ?? 'slapd', '-f', conf, '-h', listen, '-d', '0'], {})
  const admin = ['-x', '-H', url, '-D', `cn=admin,${base}`, '-w', 'adminpw']
  await until('slapd answers', () => spawnSync('/usr/bin/ldapwhoami', admin).status === 0, { everyMs: 50 })

  return {
    url,
    /** The same by the name in its certificate. */
    namedUrl: `ldap://localhost:${port}`,
    tlsUrl: `ldaps://localhost:${tlsPort}`,
    socketUrl,
    /** PEM of the authority that signed its certificate, and nobody else knows. */
    authorityFile: files.authority,
    /** Changes entries while it runs, in LDIF. */
    modify: (ldif: string) => run('/usr/bin/ldapmodify', admin, ldif),
    stop: async () => {
      await program.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function run(program: string, args: string[], input = ''): void {
  const { status, stderr } = spawnSync(program, args, { input })
  if (status !== 0) throw new Error(`${program}: ${stderr.toString()}`)
}

const toConf = ({ folder, certificate, key }: { folder: string; certificate: string; key: string }) => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
pidfile ${folder}/slapd.pid
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile ${certificate}
TLSCertificateKeyFile ${key}
allow bind_anon_cred bind_anon_dn
database mdb
suffix "${base}"
rootdn "cn=admin,${base}"
rootpw adminpw
directory ${folder}/db
access to attrs=userPassword by anonymous auth by * none
access to * by users read by * none
`

function toLdif(): string {
  const person = (userName: string, { mail = `${userName}@example.test`, password = true } = {}) => `
dn: ${dnOf(userName)}
objectClass: inetOrgPerson
uid: ${userName}
cn: ${userName}
sn: ${userName}
mail: ${mail}
${password ? `userPassword: ${directoryPasswordOf(userName)}` : ''}
`
  const group = (name: string, ...members: string[]) => `
dn: cn=${name},ou=groups,${base}
objectClass: groupOfNames
cn: ${name}
${members.map((member) => `member: ${dnOf(member)}`).join('\n')}
`
  return `
dn: ${base}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ou=people,${base}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${base}
objectClass: organizationalUnit
ou: groups

dn: ${serviceDn}
objectClass: account
objectClass: simpleSecurityObject
uid: svc
userPassword:: ${Buffer.from(servicePassword).toString('base64')}
${person('ada')}
${person('grace')}
${person('twin-one', { mail: 'twins@example.test' })}
${person('twin-two', { mail: 'twins@example.test' })}
${person('without', { password: false })}
${group('NetOps', 'ada', 'grace')}
${group('Second floor', 'ada')}
`
}
