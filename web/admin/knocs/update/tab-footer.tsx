import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/button.tsx'
import { useGoBack } from '../../use-go-back.ts'

/** Cancel, which leads back, and Save. */
export function TabFooter({ isSaving }: { isSaving: boolean }) {
  const { t } = useTranslation()
  const goBack = useGoBack('/admin/knocs')
  return (
    <div className="sticky bottom-0 z-10 -mx-4 mt-8 -mb-6 flex justify-end gap-3 border-t border-line bg-page px-4 py-4 sm:-mx-6 sm:px-6 lg:-mx-8 lg:-mb-8 lg:px-8">
      <Button onClick={goBack}>{t('kit.cancel')}</Button>
      <Button type="submit" variant="primary" busy={isSaving}>
        {t('admin.save')}
      </Button>
    </div>
  )
}
