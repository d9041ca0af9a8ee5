import { useTranslation } from 'react-i18next'
import { cx } from '../../components/class-names.ts'
import { Tooltip } from '../../components/tooltip.tsx'

/** Whether an agent has its link: a filled or a hollow dot, with its word. */
export function OnlineMark({ online }: { online: boolean }) {
  const { t } = useTranslation()
  return (
    <Tooltip text={t(online ? 'admin.online' : 'admin.offline')}>
      <span
        aria-hidden="true"
        className={cx(
          'inline-block size-2.5 shrink-0 rounded-full border-2',
          online ? 'border-ok bg-ok' : 'border-control bg-transparent',
        )}
      />
    </Tooltip>
  )
}
