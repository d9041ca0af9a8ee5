import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './debian.ts'

/** Files (PEM) of a server's certificate and key, and of the authority that signed it, known to nobody else. */
export function aCertificate(folder: string, subjectAltName: string) {
  const file = (name: string) => join(folder, name)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const openssl = (...args: string[]) => {
    const { status, stderr } = spawnSync(findProgram('openssl') ?? 'openssl', args)
    if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr.toString()}`)
  }
  const ca = ['-CA', file('ca.pem'), '-CAkey', file('ca-key.pem')]
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-subj',
    '/CN=Test authority',
    '-keyout',
    file('ca-key.pem'),
    '-out',
    file('ca.pem'),
  )
  openssl(
    'req',
    ...newKey.slice(0, 5),
    '-subj',
    '/CN=Test server',
    '-keyout',
    file('key.pem'),
    '-out',
    file('request.pem'),
  )
  writeFileSync(file('extensions.cnf'), `subjectAltName=${subjectAltName}\nbasicConstraints=CA:FALSE\n`)
  openssl(
    'x509',
    '-req',
    '-in',
    file('request.pem'),
    ...ca,
    '-days',
    '2',
    '-extfile',
    file('extensions.cnf'),
    '-out',
    file('cert.pem'),
  )
  return { authority: file('ca.pem'), certificate: file('cert.pem'), key: file('key.pem') }
}
