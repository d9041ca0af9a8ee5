import { type Driver, type DriverError, failAll } from './driver.ts'

/** Stands in where nothing can be done: opens fail with the reason, closes too, nothing is listed. */
export function brokenDriver(error: DriverError): Driver {
  const fail = async (entries: readonly { address: string }[]) => failAll(entries, error)
  return {
    batchSize: 500,
    open: fail,
    close: fail,
    list: async () => error,
    ensure: async () => error,
    empty: async () => error,
  }
}
