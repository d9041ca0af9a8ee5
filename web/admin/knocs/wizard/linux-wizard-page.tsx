import { linuxWizard, linuxWizardMachine } from '#machines/knoc-wizard.machine.ts'
import { knocTypes } from '../knoc-types.ts'
import { KnocWizard } from './knoc-wizard.tsx'

/** The wizard for a Linux host or firewall. */
export function LinuxWizardPage() {
  return <KnocWizard type={knocTypes[0]} definition={linuxWizard} machine={linuxWizardMachine} />
}
