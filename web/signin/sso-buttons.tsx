import { LogIn } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import type { Realm } from './realm.ts'
import { type SsoWay, ssoAddress } from './sign-in-ways.ts'

const texts = { saml: 'signIn.saml', oidc: 'signIn.oidc' } as const

type Props = { realm: Realm; ways: readonly SsoWay[]; kioskMode?: boolean | undefined }

/** A button for each way of single sign-on, the preferred one first. */
export function SsoButtons({ realm, ways, kioskMode }: Props) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-3 empty:hidden">
      {ways.map((way, index) => (
        <Button
          key={way}
          size="lg"
          wide
          icon={LogIn}
          variant={index === 0 ? 'primary' : 'secondary'}
          onClick={() => startSso(realm, way, kioskMode)}
        >
          {t(texts[way])}
        </Button>
      ))}
    </div>
  )
}

/** Leaves for the identity provider. */
export const startSso = (realm: Realm, way: SsoWay, kioskMode?: boolean): void =>
  window.location.assign(ssoAddress(realm, way, kioskMode))
