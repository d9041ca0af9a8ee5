import { Check, Copy } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from './button.tsx'
import { copyText } from './copy-text.ts'
import { IconButton } from './icon-button.tsx'

/** How long 'Copied' stays, in milliseconds. Portal §9. */
const feedbackMs = 750

type Props = {
  text: string
  /** What is copied, for the button's name: 'Copy the token'. */
  label?: string | undefined
  /** Icon only. */
  compact?: boolean | undefined
}

/** Copies a text and says so for 750 ms. */
export function CopyButton({ text, label, compact }: Props) {
  const { t } = useTranslation()
  const [isCopied, setIsCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async () => {
    if (!(await copyText(text))) return
    setIsCopied(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setIsCopied(false), feedbackMs)
  }
  const name = label ?? t('kit.copy')
  const shown = isCopied ? t('kit.copied') : name
  const icon = isCopied ? Check : Copy
  return (
    <>
      {compact ? (
        <IconButton icon={icon} label={shown} onClick={() => void copy()} />
      ) : (
        <Button icon={icon} size="sm" onClick={() => void copy()}>
          {shown}
        </Button>
      )}
      <output className="sr-only">{isCopied ? t('kit.copied') : ''}</output>
    </>
  )
}
