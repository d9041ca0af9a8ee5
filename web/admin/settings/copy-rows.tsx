import { useTranslation } from 'react-i18next'
import { CopyButton } from '../../components/copy-button.tsx'

/** Addresses to give to an identity provider, each with a button that copies it. */
export function CopyRows({
  title,
  rows,
}: {
  title: string
  rows: readonly { label: string; text: string }[]
}) {
  const { t } = useTranslation()
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm font-semibold text-ink">{title}</p>
      <ul className="divide-y divide-line rounded-xl border border-line bg-sunken">
        {rows.map(({ label, text }) => (
          <li key={label} className="flex items-center gap-2 py-1.5 pr-1.5 pl-3.5">
            <span className="min-w-0 flex-1">
              <span className="block text-xs font-medium text-muted">{label}</span>
              <code className="font-mono text-[0.8125rem] break-all text-ink">{text}</code>
            </span>
            <CopyButton compact text={text} label={t('admin.copyNamed', { name: label })} />
          </li>
        ))}
      </ul>
    </div>
  )
}
