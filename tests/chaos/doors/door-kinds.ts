import type { DoorKind, KindName } from './door-kind.ts'
import { haproxyDoor } from './haproxy-door.ts'
import { ipset6Door, ipsetDoor } from './ipset-door.ts'
import { listDoor } from './list-door.ts'
import { panosDoor } from './panos-door.ts'
import { scriptDoor } from './script-door.ts'

/** Every kind of door. To add one: copy script-door.ts, add a row. */
export const doorKinds: Readonly<Record<KindName, DoorKind>> = {
  ipset: ipsetDoor,
  ipset6: ipset6Door,
  haproxy: haproxyDoor,
  script: scriptDoor,
  list: listDoor,
  panos: panosDoor,
}

export const kindNames = Object.keys(doorKinds) as KindName[]
