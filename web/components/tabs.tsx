import { Tab, TabGroup, TabList, TabPanel, TabPanels } from '@headlessui/react'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

export type TabItem = {
  id: string
  label: string
  icon?: LucideIcon | undefined
  /** A number or mark after the label. */
  badge?: ReactNode
  content: ReactNode
}

type Props = {
  label: string
  tabs: readonly TabItem[]
  /** Id of the shown tab; without it the tabs keep it themselves. */
  selected?: string | undefined
  onChange?: ((id: string) => void) | undefined
  /** Panels that aren't shown stay as they are: what was typed in them isn't lost. */
  keepMounted?: boolean | undefined
}

/** Panels of which one shows. Arrow keys move between them. */
export function Tabs({ label, tabs, selected, onChange, keepMounted }: Props) {
  const index = tabs.findIndex((tab) => tab.id === selected)
  return (
    <TabGroup
      {...(selected === undefined ? {} : { selectedIndex: Math.max(0, index) })}
      onChange={(next) => {
        const tab = tabs[next]
        if (tab) onChange?.(tab.id)
      }}
    >
      <TabList aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map(({ id, label: name, icon: Icon, badge }) => (
          <Tab
            key={id}
            className="-mb-px inline-flex min-h-11 items-center gap-2 border-b-2 border-transparent px-3.5 max-sm:px-2.5 text-[0.9375rem] font-semibold whitespace-nowrap text-muted -outline-offset-2 hover:text-ink data-selected:border-accent data-selected:text-accent-ink"
          >
            {Icon ? <Icon aria-hidden="true" className="size-4" /> : null}
            {name}
            {badge}
          </Tab>
        ))}
      </TabList>
      <TabPanels className="pt-5">
        {tabs.map(({ id, content }) => (
          <TabPanel key={id} unmount={!keepMounted}>
            {content}
          </TabPanel>
        ))}
      </TabPanels>
    </TabGroup>
  )
}
