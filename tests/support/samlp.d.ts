/** The part of npm `samlp` (auth0's identity provider, no types of its own) that the tests use. */
declare module 'samlp' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Request = IncomingMessage & { query: Record<string, string>; originalUrl: string; protocol: string }
  type Response = ServerResponse & { set(name: string, value: string): void; send(body: unknown): void }
  type Middleware = (request: Request, response: Response, next: (error: unknown) => void) => void

  const samlp: {
    auth(options: Record<string, unknown>): Middleware
    metadata(options: Record<string, unknown>): Middleware
    parseRequest(
      request: Request,
      options: Record<string, unknown>,
      callback: (error: unknown, data?: { id: string; issuer: string; forceAuthn?: string }) => void,
    ): void
  }
  export default samlp
}
