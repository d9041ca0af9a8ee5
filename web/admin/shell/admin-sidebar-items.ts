import { DoorClosed, Group, House, type LucideIcon, Server, Settings, ShieldUser, Users } from 'lucide-react'
import type { TextKey } from '../../i18n/texts.ts'

/** One line of the sidebar. */
export type SidebarItem = {
  path: string
  label: TextKey
  icon: LucideIcon
}

/** The sidebar, top to bottom. Console §1 lists them; a page that comes later is one more line. */
export const sidebarItems: readonly SidebarItem[] = [
  { path: '/admin/home', label: 'admin.nav.home', icon: House },
  { path: '/admin/agents', label: 'admin.nav.agents', icon: Server },
  { path: '/admin/knocs', label: 'admin.nav.knocs', icon: DoorClosed },
  { path: '/admin/groups', label: 'admin.nav.groups', icon: Group },
  { path: '/admin/users', label: 'admin.nav.users', icon: Users },
  { path: '/admin/admins', label: 'admin.nav.admins', icon: ShieldUser },
  { path: '/admin/settings', label: 'admin.nav.settings', icon: Settings },
]

/** Whether a line stands for the page that is open: its own, or one below it. */
export const isItemCurrent = (item: SidebarItem, path: string): boolean =>
  path === item.path || path.startsWith(`${item.path}/`)
