import { useTranslation } from 'react-i18next'

/** A date and time in the reader's own way of writing them. */
export function Instant({ at, dateOnly }: { at: string; dateOnly?: boolean }) {
  const { i18n } = useTranslation()
  const options: Intl.DateTimeFormatOptions = dateOnly
    ? { dateStyle: 'medium' }
    : { dateStyle: 'medium', timeStyle: 'short' }
  return <time dateTime={at}>{new Intl.DateTimeFormat(i18n.language, options).format(new Date(at))}</time>
}
