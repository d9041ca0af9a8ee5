import { createElement } from 'react'
import { iconByName } from './icons.ts'

/** The drawing of an icon's stored name; decoration beside a text. */
export const NamedIcon = ({ name, className }: { name: string; className?: string | undefined }) =>
  createElement(iconByName(name), { 'aria-hidden': true, className })
