import { CopyButton } from '../../components/copy-button.tsx'

/** Text to copy into a terminal, with the button that copies it. */
export function CodeBlock({ label, text, copyLabel }: { label: string; text: string; copyLabel: string }) {
  return (
    <figure className="flex min-w-0 flex-col gap-1.5">
      <figcaption className="flex items-center justify-between gap-3">
        <span className="text-sm font-semibold text-ink">{label}</span>
        <CopyButton text={text} label={copyLabel} />
      </figcaption>
      {/* Long lines scroll; a part that scrolls must be within reach of the keyboard. */}
      <section
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
        aria-label={label}
        className="overflow-x-auto rounded-xl border border-line bg-sunken px-4 py-3"
      >
        <pre className="font-mono text-[0.8125rem] leading-relaxed text-ink">{text}</pre>
      </section>
    </figure>
  )
}
