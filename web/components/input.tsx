import type { InputHTMLAttributes, Ref, TextareaHTMLAttributes } from 'react'
import { cx } from './class-names.ts'

/** The look of a control that takes text or opens a list. */
export const inputClass =
  'w-full min-h-11 rounded-[10px] border border-control bg-surface px-3.5 py-2 text-base text-ink transition-[border-color,box-shadow] duration-150 hover:border-ink aria-invalid:border-danger aria-invalid:border-2 disabled:cursor-not-allowed disabled:bg-sunken disabled:text-muted sm:text-[0.9375rem]'

/** A bare text input, without label: use TextField unless the label stands elsewhere. */
export function Input({
  className,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> | undefined }) {
  return <input type="text" {...rest} className={cx(inputClass, className)} />
}

/** The same for several lines. */
export function TextArea({
  className,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> | undefined }) {
  return <textarea rows={4} {...rest} className={cx(inputClass, className)} />
}
