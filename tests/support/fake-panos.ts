import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DOMParser } from '@xmldom/xmldom'
import { aCertificate } from './certificate.ts'
import { createFakeEdl, type EdlSettings } from './fake-edl.ts'
import { answers, refusals } from './fake-panos-answers.ts'

export { edlFetch } from './fake-edl.ts'

/** One call of the XML API, as it came. */
export type PanosCall = {
  method: string
  /** Path and query. */
  url: string
  headers: IncomingMessage['headers']
  form: Record<string, string>
}

/** How the API answers from now on: `slow` not at all, `drip` a byte at a time without an end. */
export type PanosFault = keyof typeof answers | 'slow' | 'drip' | 'hangUp'

/** PAN-OS on the wire; see {@link startFakePanos}. */
export type FakePanos = Awaited<ReturnType<typeof startFakePanos>>

/** A key as PAN-OS makes them: base64. */
export const panosKey = 'LUFRPT14MW5xOEo1R09KVlBZNnpnemh0VHRBOWl6TGM9bXcwM3JHUGVhRlNiY0dCR0srNERUQT09'

/** PAN-OS serves this many calls at once. What a device does with more is not known; here they are told it is busy. */
const callsAtOnce = 5

/**
 * A Palo Alto firewall, or a Panorama before several (lists with `serial`): the XML API over HTTPS with a certificate
 * of its own, and the lists it fetches. A test gives each list a way to be fetched ({@link edlFetch}) and then sees
 * what is enforced:
 *
 *     const panos = await startFakePanos({ lists: [{ name: 'jit', fetch: edlFetch(url, key) }] })
 *     … backend {Hostname: panos.hostname, ApiKey: panosKey, VSys: 'vsys1', Insecure: true}, acl {EDLName: 'jit'} …
 *     await until('it is enforced', () => panos.list('jit').enforced().includes('192.0.2.7'))
 *
 * @param options.address where it listens; its certificate names it.
 * @param options.certificateFor another name for the certificate than that address, e.g. `DNS:elsewhere.test`.
 */
export async function startFakePanos(options: {
  lists: EdlSettings[]
  apiKey?: string
  address?: string
  certificateFor?: string
}) {
  const { apiKey = panosKey, address = '127.0.0.1' } = options
  const folder = mkdtempSync(join(tmpdir(), 'knoc-panos-'))
  const files = aCertificate(folder, options.certificateFor ?? `IP:${address}`)
  const calls: PanosCall[] = []
  let fault: PanosFault | null = null
  let held: PromiseWithResolvers<void> | null = null
  let atOnce = 0
  let mostAtOnce = 0

  let jobs: Promise<void> = Promise.resolve()
  const inTurn = (job: () => Promise<void>): Promise<void> => {
    jobs = jobs.then(job, job)
    return jobs
  }
  const lists = options.lists.map((settings) => createFakeEdl(settings, inTurn))

  const list = (name: string, vsys = 'vsys1', serial?: string) => {
    const found = lists.find(
      ({ settings }) => settings.name === name && settings.vsys === vsys && settings.serial === serial,
    )
    if (found === undefined) throw new Error(`this firewall has no list ${name}`)
    return found
  }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const url = new URL(request.url ?? '/', 'https://device')
    const form = Object.fromEntries([
      ...url.searchParams,
      ...new URLSearchParams(Buffer.concat(pieces).toString('utf8')),
    ])
    calls.push({
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      form,
    })
    if (url.pathname !== '/api/') return say(response, answers.html)
    if (atOnce > callsAtOnce) return say(response, answers.busy)
    await held?.promise
    if (fault === 'slow') return
    if (fault === 'hangUp') return void response.destroy()
    if (fault === 'drip') return drip(response)
    if (fault !== null) return say(response, answers[fault])
    if ((request.headers['x-pan-key'] ?? form['key']) !== apiKey)
      return say(response, answers.invalidCredential)
    say(response, carryOut(form))
  }

  /** What a command comes to. The list is fetched later, in a job. */
  const carryOut = ({ type, cmd = '', vsys = 'vsys1', target }: Record<string, string>) => {
    if (type !== 'op') return answers.badRequest
    const name = readRefresh(cmd)
    if (name === undefined) return answers.invalidCommand
    const here = lists.filter(({ settings }) => settings.serial === target)
    if (here.length === 0) return refusals.notConnected(target ?? '')
    const inVsys = here.filter(({ settings }) => settings.vsys === vsys)
    if (inVsys.length === 0) return refusals.unknownVsys(vsys)
    const meant = inVsys.find(({ settings }) => settings.name === name)
    if (meant === undefined) return refusals.unknownList(name, vsys)
    void meant.refresh()
    return answers.enqueued
  }

  const server = createServer({ key: readFileSync(files.key), cert: readFileSync(files.certificate) })
  server.on('request', (request, response) => {
    atOnce += 1
    mostAtOnce = Math.max(mostAtOnce, atOnce)
    response.on('close', () => {
      atOnce -= 1
    })
    void answer(request, response)
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, address, resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo

  return {
    /** The backend's Hostname. */
    hostname: `${address}:${port}`,
    /** PEM of who signed its certificate; nobody trusts it by itself. */
    authority: readFileSync(files.authority, 'utf8'),
    calls,
    /** Most calls that were under way together. */
    mostAtOnce: () => mostAtOnce,
    callsUnderWay: () => atOnce,
    list,
    /** Every call fails in this way from now on; null: none does. */
    setFault: (next: PanosFault | null) => {
      fault = next
    },
    /** Calls get no answer until the function that this answers is called. */
    hold: () => {
      const mine = Promise.withResolvers<void>()
      held = mine
      return () => {
        held = null
        mine.resolve()
      }
    },
    /** Nobody listens any more; lists that have an interval go on fetching. */
    goAway: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
    comeBack: () => listen(port),
    stop: async () => {
      for (const one of lists) one.stop()
      held?.resolve()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await jobs.catch(() => undefined)
      rmSync(folder, { recursive: true })
    },
  }
}

/** The list that `request system external-list refresh type ip name …` names; undefined for anything else. */
function readRefresh(cmd: string): string | undefined {
  let element: Element | undefined
  try {
    element = new DOMParser({ errorHandler: () => undefined }).parseFromString(
      cmd,
      'text/xml',
    ).documentElement
  } catch {
    return undefined
  }
  const path = ['request', 'system', 'external-list', 'refresh', 'type', 'ip', 'name']
  for (const [depth, name] of path.entries()) {
    if (element?.nodeName !== name) return undefined
    if (depth < path.length - 1) element = element.firstChild as Element
  }
  return element?.textContent ?? undefined
}

const say = (response: ServerResponse, { status, body }: { status: number; body: string }) =>
  void response.writeHead(status, { 'content-type': 'application/xml; charset=UTF-8' }).end(body)

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/xml; charset=UTF-8' }).write('<response>')
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}
