import { LogOut } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { Dialog } from '../components/dialog.tsx'

/** Says that there is no licence and what to do; the one way out is logging out. Goes by itself once there is one. */
export function ClassicUnlicensed({
  isUsers,
  onLogout,
}: {
  /** The installation has a licence, this user has no place in it. */
  isUsers: boolean
  onLogout: () => void
}) {
  const { t } = useTranslation()
  return (
    <Dialog
      open
      onClose={stay}
      role="alertdialog"
      size="sm"
      title={t(isUsers ? 'home.userUnlicensed' : 'home.unlicensed')}
      description={t(isUsers ? 'home.userUnlicensedText' : 'home.unlicensedText')}
      footer={
        <Button variant="primary" icon={LogOut} onClick={onLogout}>
          {t('home.logout')}
        </Button>
      }
    />
  )
}

const stay = () => undefined
