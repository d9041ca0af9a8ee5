import { useEffect, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Banner } from '../../components/banner.tsx'
import { Button } from '../../components/button.tsx'

/** Says that somebody else changed what is being edited (decision 17), and offers to start again from that. */
export function ChangedMeanwhile({ onReload }: { onReload: () => void }) {
  const { t } = useTranslation()
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    place.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <div ref={place} role="alert">
      <Banner
        tone="warn"
        title={t('err.changedMeanwhile')}
        action={
          <Button size="sm" onClick={onReload}>
            {t('admin.update.reload')}
          </Button>
        }
      >
        {t('admin.update.reloadText')}
      </Banner>
    </div>
  )
}
