import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { createTurns } from '../../platform/turns.ts'
import { withinMilliseconds } from '../../platform/within.ts'

/** The standards' own schemas, with where they come from: `schemas/README.md`. */
const [protocolSchema, ...importedSchemas] = [
  'saml-schema-protocol-2.0.xsd',
  'saml-schema-assertion-2.0.xsd',
  'xmldsig-core-schema.xsd',
  'xenc-schema.xsd',
] as const

/** A message of the largest size takes a fraction of this. */
const longestMilliseconds = 5_000

/** Of 64 kB each: 16 MB, growing to at most 32 MB. */
const memoryPages = { initial: 256, most: 512 }

/** What libxml2's command-line tool ends with when a document is well-formed and breaks the schema. */
const exitCodes = { valid: 0, broken: [1, 3, 4] }

/**
 * Holds a SAML message against the published schemas, with libxml2 in WebAssembly: in a worker of its own without
 * files or network, which is ended after 5 seconds whatever it does. That needs the worker itself, so it is spoken to
 * in the package's own words (xmllint-wasm 5.3, `index-node.js`), whose function can't be stopped.
 *
 * @throws Error with the first fault; err.serviceUnavailable while too many wait.
 */
export async function validateSamlSchema(xml: string, milliseconds = longestMilliseconds): Promise<string> {
  const { exitCode, stderr } = await inTurn(() => runXmllint(xml, milliseconds))
  if (exitCode === exitCodes.valid) return 'valid'
  const isBroken = exitCodes.broken.includes(exitCode)
  throw new Error(isBroken ? firstFault(stderr) : `the validator gave up (${exitCode})`)
}

type XmllintResult = { exitCode: number; stderr: string }

async function runXmllint(xml: string, milliseconds: number): Promise<XmllintResult> {
  const worker = new Worker(workerFile)
  const result = new Promise<XmllintResult>((resolve, reject) => {
    worker.once('error', reject)
    worker.on('message', (message: XmllintResult & Record<string, unknown>) => {
      if (message[packageMark] === true) resolve(message)
    })
    // eslint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    worker.postMessage(toTask(xml))
  })
  try {
    return await withinMilliseconds(result, milliseconds)
  } finally {
    await worker.terminate()
  }
}

const toTask = (xml: string) => ({
  [packageMark]: true,
  inputFiles: [...schemaFiles, { fileName: 'message.xml', contents: xml }],
  args: ['--nonet', '--noout', '--schema', protocolSchema, 'message.xml'],
  initialMemory: memoryPages.initial,
  maxMemory: memoryPages.most,
})

/** `message.xml:1: Schemas validity error : Element '{urn:…}X': This element is not expected.` */
function firstFault(stderr: string): string {
  const lines = stderr.split('\n')
  const line = lines.find((line) => line.includes(' error : ')) ?? lines[0] ?? ''
  return line.replace(/^message\.xml:\d+: /, '').slice(0, 300)
}

const inTurn = createTurns(availableParallelism())
const packageMark = 'xmllint-wasm'
const workerFile = createRequire(import.meta.url).resolve('xmllint-wasm/xmllint-node.js')
const schemaFiles = [protocolSchema, ...importedSchemas].map((fileName) => ({
  fileName,
  contents: readFileSync(new URL(`schemas/${fileName}`, import.meta.url), 'utf8'),
}))
