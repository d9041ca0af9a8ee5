import type { ClientAddress } from './client-address.ts'

/** What every request carries through the middleware of this folder; `Hono<HttpEnv>`. */
export interface HttpEnv {
  Bindings: {
    /** Address of the other end of the connection, as the listener saw it; '' when it is gone already. */
    peer: string
  }
  Variables: {
    requestId: string
    client: ClientAddress
  }
}
