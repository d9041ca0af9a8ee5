import type { LucideIcon } from 'lucide-react'
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { cx } from './class-names.ts'
import { Spinner } from './spinner.tsx'

/** `waiting` is no offer but a state: what the button began is on its way. */
export type ButtonVariant = 'primary' | 'secondary' | 'quiet' | 'danger' | 'waiting'
export type ButtonSize = 'sm' | 'md' | 'lg'

type Look = {
  variant?: ButtonVariant | undefined
  size?: ButtonSize | undefined
  icon?: LucideIcon | undefined
  /** Takes the whole width. */
  wide?: boolean | undefined
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> &
  Look & {
    /** The work that the click began goes on: a ring turns and further clicks do nothing; focus stays. */
    busy?: boolean | undefined
    ref?: Ref<HTMLButtonElement> | undefined
  }

/** A button; `type` is 'button' unless told. */
export function Button({
  variant,
  size,
  icon,
  wide,
  busy,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={busy || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={cx(buttonClass({ variant, size, wide }), className)}
    >
      <Content icon={icon} busy={busy}>
        {children}
      </Content>
    </button>
  )
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & Look & { href: string }

/** A link that looks like a button. */
export function LinkButton({ variant, size, icon, wide, className, children, ...rest }: LinkProps) {
  return (
    <a {...rest} className={cx(buttonClass({ variant, size, wide }), className)}>
      <Content icon={icon}>{children}</Content>
    </a>
  )
}

function Content({
  icon: Icon,
  busy,
  children,
}: {
  icon: LucideIcon | undefined
  busy?: boolean | undefined
  children: ReactNode
}) {
  return (
    <>
      {busy ? <Spinner /> : Icon ? <Icon aria-hidden="true" className="size-4 shrink-0" /> : null}
      {children}
    </>
  )
}

const variants: Record<ButtonVariant, string> = {
  primary:
    'bg-accent text-on-accent border-transparent shadow-low hover:bg-accent-strong active:translate-y-px disabled:bg-sunken disabled:text-muted disabled:shadow-none',
  secondary:
    'bg-surface text-ink border-control hover:bg-sunken active:translate-y-px disabled:text-muted disabled:border-line disabled:bg-transparent',
  quiet:
    'bg-transparent text-ink border-transparent hover:bg-sunken disabled:text-muted disabled:hover:bg-transparent',
  danger:
    'bg-danger text-on-danger border-transparent shadow-low hover:brightness-95 active:translate-y-px disabled:bg-sunken disabled:text-muted disabled:shadow-none',
  waiting: 'bg-sunken text-ink border-transparent',
}

const sizes: Record<ButtonSize, string> = {
  sm: 'min-h-8 px-3 text-sm rounded-lg gap-1.5',
  md: 'min-h-10 px-4 text-sm rounded-[10px] gap-2',
  lg: 'min-h-12 px-5 text-base rounded-xl gap-2',
}

/** The look of a button, for a link or menu that is to look like one. */
export const buttonClass = ({ variant = 'secondary', size = 'md', wide }: Omit<Look, 'icon'>): string =>
  cx(
    'inline-flex items-center justify-center border font-semibold max-w-full whitespace-nowrap max-sm:whitespace-normal select-none transition-[background-color,border-color,color,transform,filter] duration-150 disabled:cursor-not-allowed aria-disabled:cursor-progress',
    sizes[size],
    variants[variant],
    wide && 'w-full',
  )
