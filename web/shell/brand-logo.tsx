import { useState } from 'react'
import { Logo } from '../components/logo.tsx'
import { useIsDark } from './colour-mode.ts'
import { logoFor } from './logo-for.ts'
import { useTheme } from './theme.ts'

type Props = {
  /** What screen readers say. */
  label?: string | undefined
  /** Size of the product's own drawing. */
  className?: string | undefined
}

/**
 * The installation's own logo, for light or dark; the product's where there is none, or where its address is no longer
 * good: a page may be older than the logo. Its box is as large before it has come as after.
 */
export function BrandLogo({ label = 'Knoc', className }: Props) {
  const address = logoFor(useTheme(), useIsDark())
  const [missing, setMissing] = useState<string>()
  if (address === null || address === missing) return <Logo label={label} className={className} />
  return (
    <img
      src={address}
      alt={label}
      onError={() => setMissing(address)}
      className="h-8 w-44 min-w-0 object-contain object-left"
    />
  )
}
