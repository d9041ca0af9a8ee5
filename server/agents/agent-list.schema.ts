import { z } from 'zod'
import { requiredText } from '../platform/wire.schema.ts'

/** GET /api/admin/agents/{id}/lists: what an agent looks after, and how that stands. Deleted agents answer, too. */
export type AgentLists = {
  Agent: {
    ID: string
    Name: string
    Online: boolean
    LastSeen: string | null
    Version: string | null
    Conflict: boolean
    /** It is gone from every list; what it never was seen to close is not. */
    Deleted: boolean
  }
  Lists: AgentList[]
  /** The newest 20 findings, newest first. */
  Drift: AgentDrift[]
}

/** A list on an enforcement point. */
export type AgentList = {
  ID: string
  /** Kind of enforcement point, as definitions name it. */
  Type: string
  Name: string
  /** 4 or 6 where it holds one family only. */
  Family: 4 | 6 | null
  /** It is no longer used, and goes when its last door is seen closed. */
  Draining: boolean
  /** The kernel ends entries by itself; otherwise the agent has to be there. */
  EndsByItself: boolean
  Knocs: { ID: string; Name: string }[]
  /** Entries that the server wants open now. */
  Open: number
  /** The agent's last look; null before its first. */
  Look: AgentLook | null
  /** Of a list that its device fetches itself, when told to: how that went. Nothing stands there that could be looked at. */
  Refresh: ListRefresh | null
  /** Doors that wait to be seen closed. */
  Debts: number
  /** What ends live connections when an address leaves it; null while the agent hasn't said. */
  Cut: 'rules' | 'sockets' | 'conntrack' | 'none' | null
}

/** How a device was told to fetch its list. */
export type ListRefresh = {
  /** When it last took the order; null before that. */
  RefreshedAt: string | null
  /** The device's own words, of the last try, while it fails. */
  Error: string | null
}

/** What an agent saw on a list. */
export type AgentLook = {
  CheckedAt: string
  Desired: number
  Actual: number
  Foreign: number
  Error: string | null
}

/** Something that was found different from the orders. */
export type AgentDrift = {
  At: string
  ListName: string
  Kind: 'missing' | 'foreign' | 'wrongEnd' | 'listGone' | 'listBack'
  Count: number
  Sample: string[]
  Repaired: boolean
}

/** One row of GET /api/admin/agents/{id}/debts: a door ordered closed and not seen closed. */
export type AgentDebt = {
  ID: string
  Address: string
  ListID: string
  ListName: string
  /** Since when it is to be closed. */
  Since: string
  UserName: string
  /** How often closing it failed. */
  Attempts: number
  /** The enforcement point's own words, of the last failure. */
  LastError: string | null
  /** When it is tried again; null while no try has failed. */
  NextTry: string | null
  /** When the kernel ends it though nobody closes it; null where nothing does. */
  EndsByItselfAt: string | null
}

/** POST /api/admin/agents/{id}/lists/{listId}/forget. */
export const forgetListSchema = z.strictObject({ Reason: requiredText(500) })

/** The path of one list. */
export const listParamSchema = z.object({ id: z.uuid(), listId: z.uuid() })
