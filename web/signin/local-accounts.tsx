import { type ReactNode, useId, useState } from 'react'
import { useTranslation } from 'react-i18next'

/** The form for local accounts behind a toggle: on a page whose first way in is single sign-on. */
export function LocalAccounts({ children }: { children: ReactNode }) {
  const { t } = useTranslation()
  const [isShown, setIsShown] = useState(false)
  const id = useId()
  return (
    <>
      <button
        type="button"
        aria-expanded={isShown}
        aria-controls={isShown ? id : undefined}
        onClick={() => setIsShown(!isShown)}
        className="link inline-flex min-h-6 w-fit items-center rounded text-sm"
      >
        {t(isShown ? 'signIn.localHide' : 'signIn.localShow')}
      </button>
      {isShown ? (
        <div id={id} className="border-t border-line pt-5">
          {children}
        </div>
      ) : null}
    </>
  )
}
