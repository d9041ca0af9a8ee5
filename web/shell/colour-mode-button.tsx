import { Moon, Sun, SunMoon } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../components/icon-button.tsx'
import { useColourMode } from './colour-mode.ts'

const icons = { light: Sun, dark: Moon, auto: SunMoon }

/** Steps through light, dark and the system's colours; its name says which holds. */
export function ColourModeButton() {
  const { t } = useTranslation()
  const { mode, cycle } = useColourMode()
  return <IconButton icon={icons[mode]} label={t(`shell.colourMode.${mode}`)} onClick={cycle} />
}
