import { cx } from '../components/class-names.ts'
import { NamedIcon } from '../components/named-icon.tsx'
import type { EntryView } from './entry-view.ts'

type Props = { icon: string; view: Pick<EntryView, 'door' | 'tone' | 'restriction'> }

const lights: Record<EntryView['tone'] | 'restricted', string> = {
  ok: 'bg-ok-soft text-ok border-ok',
  warn: 'bg-warn-soft text-warn border-warn',
  danger: 'bg-danger-soft text-danger border-danger',
  accent: 'bg-accent-soft text-accent-ink border-accent',
  neutral: 'bg-sunken text-muted border-accent',
  restricted: 'bg-sunken text-muted border-control',
}

/** A closed door of an entry at rest has the accent's colour. */
const leaves: Record<EntryView['tone'] | 'restricted', string> = {
  ok: 'bg-ok text-ok-soft',
  warn: 'bg-warn text-warn-soft',
  danger: 'bg-danger-soft text-danger',
  accent: 'bg-accent-soft text-accent-ink',
  neutral: 'bg-accent-soft text-accent-ink',
  restricted: 'bg-sunken text-muted',
}

/** The entry's door: closed, ajar while something is on its way, open with the light on behind it. */
export function EntryDoor({ icon, view }: Props) {
  const tone = view.restriction === null ? view.tone : 'restricted'
  const isOpen = view.door === 'open'
  return (
    <span
      aria-hidden="true"
      className={cx(
        'door relative block h-[4.25rem] w-14 shrink-0 overflow-hidden rounded-t-[1.75rem] rounded-b-md border-2 transition-colors duration-300',
        lights[tone],
      )}
    >
      <NamedIcon
        name={icon}
        className={cx(
          'absolute top-[1.4rem] left-[1.3rem] size-6 transition-opacity duration-300',
          !isOpen && 'opacity-0',
        )}
      />
      <span
        className={cx(
          'door-leaf absolute inset-0 flex items-center justify-center',
          leaves[tone],
          isOpen && 'door-leaf-open border-r-2 border-current',
          view.door === 'ajar' && 'door-leaf-ajar border-r border-current',
        )}
      >
        <NamedIcon
          name={icon}
          className={cx('size-6 transition-opacity duration-200', isOpen && 'opacity-0')}
        />
        <span className="absolute top-[58%] right-[3px] size-1 rounded-full bg-current" />
      </span>
    </span>
  )
}
