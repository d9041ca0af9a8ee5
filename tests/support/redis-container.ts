import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers'

const image = 'redis:7.4-alpine'

/** Whether a container engine answers here. */
export async function hasContainerEngine(): Promise<boolean> {
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
}

/** Redis in a container, on a fixed port of this host, for systems without the program. */
export function redisContainer(port: number): { start: () => Promise<void>; end: () => Promise<void> } {
  let container: StartedTestContainer | undefined
  return {
    start: async () => {
      container = await new GenericContainer(image).withExposedPorts({ container: 6379, host: port }).start()
    },
    end: async () => {
      await container?.stop({ timeout: 0 })
      container = undefined
    },
  }
}
