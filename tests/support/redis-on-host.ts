import { startProgram, type TestProcess } from './process.ts'

/** Where it listens, on the host's loopback. */
export const redisPort = 6_379

/** Starts a Redis inside of a host, where the servers there find it; it keeps nothing. */
export async function startRedis({
  place,
}: {
  place: (command: readonly string[]) => readonly string[]
}): Promise<TestProcess> {
  const redis = startProgram(
    place([
      'redis-server',
      '--port',
      String(redisPort),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
    ]),
    {},
  )
  await redis.said(/Ready to accept connections/)
  return redis
}
