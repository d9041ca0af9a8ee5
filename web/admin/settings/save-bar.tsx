import { useTranslation } from 'react-i18next'
import { Button } from '../../components/button.tsx'

type Props = { isDirty: boolean; isSaving: boolean; onCancel: () => void }

/** Cancel, which takes back what was typed, and Save; both only when something is changed. Console §2 "Settings". */
export function SaveBar({ isDirty, isSaving, onCancel }: Props) {
  const { t } = useTranslation()
  return (
    <div className="flex justify-end gap-3 border-t border-line pt-5">
      <Button disabled={!isDirty || isSaving} onClick={onCancel}>
        {t('kit.cancel')}
      </Button>
      <Button type="submit" variant="primary" disabled={!isDirty} busy={isSaving}>
        {t('admin.save')}
      </Button>
    </div>
  )
}
