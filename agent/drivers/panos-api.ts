import { request as httpsRequest } from 'node:https'
import type { DriverError } from './driver.ts'
import { type PanosReply, toNetworkError, toReply } from './panos-errors.ts'

/** A device and how it is asked. */
export type PanosDevice = {
  /** Host name or address, with a port if it is not 443. */
  hostname: string
  apiKey: string
  /** Its certificate is not checked. */
  isInsecure: boolean
}

/** The XML API of PAN-OS and Panorama. */
export type PanosApi = {
  /**
   * Gives a device an operational command. At most 5 at once to one device, the others wait for their turn.
   */
  op: (device: PanosDevice, command: OpCommand) => Promise<PanosReply>
  /** Breaks off what is under way. */
  stop: () => void
}

/** An answer as it came, or why none did. */
type Came = { status: number; text: string } | { error: DriverError }

const stopping: DriverError = { code: 'unreachable', text: 'the agent is stopping' }

/** `cmd` is XML; `target` the serial number of a firewall behind a Panorama. */
export type OpCommand = { cmd: string; vsys: string; target: string | undefined }

export const panosLimits = {
  /** The whole call, however slowly the answer comes: within the 15 s after which the server asks again. */
  callMs: 12_000,
  /** Answers to commands are a few hundred bytes. */
  answerBytes: 65_536,
  /** PAN-OS serves few API calls at a time (specification README, "Limits that meet reality"). */
  callsAtOnce: 5,
} as const

/**
 * Builds it, once for all devices. `ca` (PEM) vouches for devices beside the system's own authorities.
 * The key travels as a header: an address ends up in logs.
 */
export function createPanosApi({
  ca,
  limits = panosLimits,
}: {
  ca: string | undefined
  limits?: { [Limit in keyof typeof panosLimits]: number }
}): PanosApi {
  const devices = new Map<string, { free: number; queue: (() => void)[] }>()
  const underWay = new AbortController()

  /** Waits for one of the device's places and gives it back afterwards. */
  const inPlace = async <Value>(hostname: string, act: () => Promise<Value>): Promise<Value> => {
    const key = hostname.toLowerCase()
    const places = devices.get(key) ?? { free: limits.callsAtOnce, queue: [] }
    devices.set(key, places)
    if (places.free > 0) places.free -= 1
    else await new Promise<void>((resolve) => places.queue.push(resolve))
    try {
      return await act()
    } finally {
      const next = places.queue.shift()
      if (next === undefined) places.free += 1
      else next()
      if (places.free === limits.callsAtOnce) devices.delete(key)
    }
  }

  const exchange = (device: PanosDevice, body: string): Promise<Came> => {
    const { promise, resolve } = Promise.withResolvers<Came>()
    const request = httpsRequest(`https://${device.hostname}/api/`, {
      method: 'POST',
      headers: {
        'X-PAN-KEY': device.apiKey,
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': Buffer.byteLength(body),
      },
      rejectUnauthorized: !device.isInsecure,
      ...(ca === undefined ? {} : { ca }),
      agent: false,
    })
    const give = (came: Came) => {
      clearTimeout(timer)
      underWay.signal.removeEventListener('abort', stop)
      resolve(came)
      request.destroy()
    }
    const fail = (error: DriverError) => give({ error })
    const stop = () => fail(stopping)
    const late = `${device.hostname} did not answer within ${limits.callMs / 1000} s`
    const timer = setTimeout(() => fail({ code: 'timeout', text: late }), limits.callMs)
    underWay.signal.addEventListener('abort', stop)
    request.on('response', (response) => {
      const pieces: Buffer[] = []
      let length = 0
      response.on('data', (piece: Buffer) => {
        length += piece.length
        pieces.push(piece)
        if (length <= limits.answerBytes) return
        const text = `${device.hostname} answered with more than ${limits.answerBytes / 1024} KiB; is it a PAN-OS device?`
        fail({ code: 'answerTooLong', text })
      })
      response.on('end', () =>
        give({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString('utf8') }),
      )
      response.on('error', (fault) => fail(toNetworkError(fault, device.hostname)))
    })
    request.on('error', (fault) => fail(toNetworkError(fault, device.hostname)))
    request.end(body)
    return promise
  }

  return {
    op: (device, { cmd, vsys, target }) =>
      inPlace(device.hostname, async () => {
        if (underWay.signal.aborted) return { error: stopping }
        const body = new URLSearchParams({ type: 'op', cmd, vsys, ...(target !== undefined && { target }) })
        const came = await exchange(device, body.toString())
        return 'error' in came ? came : toReply(came, { ...device, vsys, target })
      }),
    stop: () => underWay.abort(),
  }
}
