/**
 * Settings of the embedded PostgreSQL, given at each start so that they are always this release's. Quick, and
 * still durable: fsync, synchronous_commit and full_page_writes keep their defaults (on).
 */
const settings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  password_encryption: 'scram-sha-256',
  max_connections: '80',
  superuser_reserved_connections: '3',
  shared_buffers: '128MB',
  // Nobody replicates from an embedded database, and backups are the product's own.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '512MB',
  checkpoint_timeout: '15min',
  // Requests are short: compiling or splitting them costs more than it saves.
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  io_method: 'sync',
  random_page_cost: '1.1',
  huge_pages: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The file only tells of starts and ends; statements and values never stand in it.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  log_parameter_max_length_on_error: '0',
  log_autovacuum_min_duration: '-1',
}

/** The settings as arguments of `postgres`; `maxConnections` in place of what one server needs. */
export const postgresSettings = (maxConnections?: number): string[] =>
  Object.entries({
    ...settings,
    ...(maxConnections !== undefined && { max_connections: String(maxConnections) }),
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
