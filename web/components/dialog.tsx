import {
  Description,
  DialogBackdrop,
  DialogPanel,
  DialogTitle,
  Dialog as HeadlessDialog,
} from '@headlessui/react'
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from './class-names.ts'
import { IconButton } from './icon-button.tsx'

type Props = {
  open: boolean
  onClose: () => void
  title: string
  description?: ReactNode
  /** Buttons, in reading order; the main one last. */
  footer?: ReactNode
  size?: 'sm' | 'md' | 'lg' | undefined
  /** 'alertdialog' asks for an answer: no close button. */
  role?: 'dialog' | 'alertdialog' | undefined
  children?: ReactNode
}

const sizes = { sm: 'max-w-md', md: 'max-w-xl', lg: 'max-w-3xl' }

/** A modal; focus stays inside and returns. On narrow screens it rises from the bottom. */
export function Dialog({ open, onClose, title, description, footer, size = 'md', role, children }: Props) {
  const { t } = useTranslation()
  const panel = useRef<HTMLDivElement>(null)
  const escapedFrom = useRef<HTMLElement>(null)
  const close = () => {
    onClose()
    // At Escape the kit takes the focus away before it asks: a dialog that stays gets it back.
    setTimeout(() => {
      const dialog = panel.current?.closest<HTMLElement>('[role]')
      if (dialog && !dialog.contains(document.activeElement)) (escapedFrom.current ?? dialog).focus()
    })
  }
  return (
    <HeadlessDialog
      open={open}
      onClose={close}
      role={role ?? 'dialog'}
      className="fixed inset-0 z-30 outline-none"
    >
      {/* The style sheet alone lets it appear: on a busy machine the kit's own transitions can stay at their start, an
          invisible dialog over the page. */}
      <DialogBackdrop className="fixed inset-0 bg-veil transition-opacity duration-150 starting:opacity-0" />
      <div className="fixed inset-0 flex items-end justify-center overflow-y-auto sm:items-center sm:p-6">
        <DialogPanel
          ref={panel}
          onKeyDown={({ key, target }) => {
            if (key === 'Escape' && target instanceof HTMLElement) escapedFrom.current = target
          }}
          className={cx(
            'flex max-h-[92dvh] w-full flex-col rounded-t-3xl border border-line bg-surface shadow-high transition duration-200 ease-out sm:rounded-3xl starting:translate-y-4 starting:opacity-0',
            sizes[size],
          )}
        >
          <div className="flex items-start gap-3 px-6 pt-5 pb-3">
            <div className="min-w-0 flex-1 pt-1.5">
              <DialogTitle className="text-lg leading-snug font-bold tracking-tight text-ink">
                {title}
              </DialogTitle>
              {description ? (
                <Description as="div" className="mt-1 text-[0.9375rem] text-muted">
                  {description}
                </Description>
              ) : null}
            </div>
            {role === 'alertdialog' ? null : (
              <IconButton icon={X} label={t('kit.close')} onClick={onClose} className="-mr-2" />
            )}
          </div>
          {children ? <div className="min-h-0 flex-1 overflow-y-auto px-6 py-2">{children}</div> : null}
          {footer ? (
            <div className="flex flex-col-reverse gap-2 px-6 pt-3 pb-6 sm:flex-row sm:justify-end">
              {footer}
            </div>
          ) : (
            <div className="pb-5" />
          )}
        </DialogPanel>
      </div>
    </HeadlessDialog>
  )
}
