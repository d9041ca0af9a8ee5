import type { AgentBackendId } from '#server/backends/definitions/index.ts'
import type { DriverFactories } from './driver.ts'
import { type HaproxyDeps, haproxyDriver } from './haproxy.ts'
import { type IpsetDeps, ipsetDriver } from './ipset.ts'
import { type PanosDeps, panosDriver } from './panos.ts'
import { type ScriptDeps, scriptDriver } from './script.ts'

/** Every kind of enforcement point, by the id of its definition on the server: a missing one does not compile. */
export const createDrivers = (deps: {
  ipset: IpsetDeps
  haproxy: HaproxyDeps
  script: ScriptDeps
  panos: PanosDeps
}): DriverFactories<AgentBackendId> => ({
  ipset: (target) => ipsetDriver(deps.ipset, target),
  haproxy: (target) => haproxyDriver(deps.haproxy, target),
  script: (target) => scriptDriver(deps.script, target),
  panos: (target) => panosDriver(deps.panos, target),
})
