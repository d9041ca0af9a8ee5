import { useTranslation } from 'react-i18next'
import { type AuthType, accountKinds } from '#server/users/account.schema.ts'
import { Banner } from '../../components/banner.tsx'
import { Switch } from '../../components/switch.tsx'

type Props = {
  authType: AuthType
  checked: boolean
  onChange: (checked: boolean) => void
  /** Why it can't be switched; shown in place of the description. */
  lockedText?: string | undefined
}

/** Whether an account must use a second factor; a warning where its provider looks after that. Portal §5. */
export function SecondFactorSwitch({ authType, checked, onChange, lockedText }: Props) {
  const { t } = useTranslation()
  const { hasSecondFactor, isMadeByProvider } = accountKinds[authType]
  if (isMadeByProvider)
    return (
      <Banner tone="warn" title={t('admin.totp.provider')}>
        {t('admin.totp.providerText')}
      </Banner>
    )
  if (!hasSecondFactor) return null
  return (
    <Switch
      label={t('admin.totp.enabled')}
      description={lockedText ?? t('admin.totp.enabledText')}
      checked={checked}
      onChange={onChange}
      disabled={lockedText !== undefined}
    />
  )
}
