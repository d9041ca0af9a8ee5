import type { ClientConfig } from 'pg'
import type { Secret } from './secret.ts'

/** How to reach a PostgreSQL database: a URL that the operator gave, or the embedded one's socket. */
export type DatabaseConnection =
  | { url: Secret }
  | {
      /** Host name, or the folder of a Unix socket. */
      host: string
      port?: number
      user: string
      password: Secret
      database: string
    }

/** The options of `pg` for a connection; the one place where the password is exposed. */
export function toClientConfig(connection: DatabaseConnection): ClientConfig {
  if ('url' in connection) return { connectionString: connection.url.expose() }
  const { host, port = 5432, user, password, database } = connection
  return { host, port, user, password: password.expose(), database }
}
