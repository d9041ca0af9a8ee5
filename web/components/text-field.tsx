import type { InputHTMLAttributes, Ref, TextareaHTMLAttributes } from 'react'
import { FieldFrame, type FieldTexts } from './field-frame.tsx'
import { Input, TextArea } from './input.tsx'
import { PasswordInput } from './password-input.tsx'

type InputProps = InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> | undefined }

/** A labelled text input. Takes `{...register('Name')}` of react-hook-form. */
export function TextField({
  label,
  description,
  error,
  optional,
  labelHidden,
  className,
  ...rest
}: FieldTexts & InputProps) {
  return (
    <FieldFrame {...{ label, description, error, optional, labelHidden, className }}>
      {(wiring) => <Input {...rest} {...wiring} />}
    </FieldFrame>
  )
}

/** A labelled password with a button that shows it. */
export function PasswordField({
  label,
  description,
  error,
  optional,
  labelHidden,
  className,
  ...rest
}: FieldTexts & Omit<InputProps, 'type'>) {
  return (
    <FieldFrame {...{ label, description, error, optional, labelHidden, className }}>
      {(wiring) => <PasswordInput {...rest} {...wiring} />}
    </FieldFrame>
  )
}

/** A labelled text of several lines. */
export function TextAreaField({
  label,
  description,
  error,
  optional,
  labelHidden,
  className,
  ...rest
}: FieldTexts &
  TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> | undefined }) {
  return (
    <FieldFrame {...{ label, description, error, optional, labelHidden, className }}>
      {(wiring) => <TextArea {...rest} {...wiring} />}
    </FieldFrame>
  )
}
