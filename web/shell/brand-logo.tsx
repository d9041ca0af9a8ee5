import { Logo } from '../components/logo.tsx'
import { useIsDark } from './colour-mode.ts'
import { useTheme } from './theme.ts'

/** The installation's own logo, for light or dark, or else the product's. */
export function BrandLogo({ className }: { className?: string | undefined }) {
  const theme = useTheme()
  const isDark = useIsDark()
  const own = isDark ? theme.Logo : (theme.LightModeLogo ?? theme.Logo)
  return own ? (
    <img src={own} alt="Knoc" className={className ?? 'h-8 w-auto max-w-48 object-contain'} />
  ) : (
    <Logo className={className} />
  )
}
