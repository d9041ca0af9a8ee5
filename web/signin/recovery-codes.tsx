import { Download, Printer } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/button.tsx'
import { Checkbox } from '../components/checkbox.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { useDirtyForm } from '../shell/dirty-forms.ts'

/** The recovery codes, shown this once: copy, save, print; goes on when they are said to be kept. */
export function RecoveryCodes({
  codes,
  busy,
  onKept,
}: {
  codes: readonly string[]
  busy?: boolean | undefined
  onKept: () => void
}) {
  const { t } = useTranslation()
  const heading = useRef<HTMLHeadingElement>(null)
  const box = useRef<HTMLInputElement>(null)
  const [isKept, setIsKept] = useState(false)
  const [isAsked, setIsAsked] = useState(false)
  // A reload for a new version would take them away unseen.
  useDirtyForm(true)
  useEffect(() => heading.current?.focus(), [])

  const goOn = () => {
    setIsAsked(true)
    if (isKept) onKept()
    else box.current?.focus()
  }
  return (
    <div className="flex flex-col gap-5">
      <div>
        <h2 ref={heading} tabIndex={-1} className="text-lg font-bold tracking-tight text-ink outline-none">
          {t('otp.recoveryTitle')}
        </h2>
        <p className="mt-1 text-[0.9375rem] text-muted">{t('otp.recoveryLead')}</p>
      </div>
      <ol
        aria-label={t('otp.recoveryTitle')}
        className="grid gap-x-6 gap-y-1.5 rounded-xl bg-sunken p-4 font-mono text-[0.8125rem] text-ink min-[24rem]:grid-cols-2"
      >
        {codes.map((code) => (
          <li key={code} className="whitespace-nowrap">
            {code}
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap gap-2 print:hidden">
        <CopyButton text={codes.join('\n')} label={t('otp.copyCodes')} />
        <Button size="sm" icon={Download} onClick={() => saveText(`${codes.join('\n')}\n`)}>
          {t('otp.saveCodes')}
        </Button>
        <Button size="sm" icon={Printer} onClick={() => window.print()}>
          {t('otp.printCodes')}
        </Button>
      </div>
      <Checkbox
        ref={box}
        label={t('otp.kept')}
        checked={isKept}
        onChange={(event) => setIsKept(event.target.checked)}
        error={isAsked && !isKept ? t('error.required') : undefined}
        className="print:hidden"
      />
      <Button variant="primary" size="lg" wide busy={busy} onClick={goOn} className="print:hidden">
        {t('otp.goOn')}
      </Button>
    </div>
  )
}

/** Hands the text to the browser as a file. */
function saveText(text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = address
  link.download = 'knoc-recovery-codes.txt'
  link.click()
  // Not at once: the browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
