/** Turns one JSON line of the log into one (or, with a stack, several) that a person reads in a terminal. */
export function toLogLine(json: string): string {
  const { time, level, msg, err, replica: _, ...facts } = JSON.parse(json) as Record<string, unknown>
  const clock = String(time).slice(11, 23)
  const told = Object.entries(facts).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const text = typeof msg === 'string' ? [msg] : []
  const head = [clock, String(level).toUpperCase().padEnd(5), ...text, ...told]
  return `${printable(head.join(' '))}\n${stackOf(err)}`
}

function stackOf(err: unknown): string {
  const { stack, message } = (err ?? {}) as { stack?: string; message?: string }
  const text = stack ?? message
  return text === undefined ? '' : `${text.split('\n').map(printable).join('\n')}\n`
}

/** A name in a log line must not move a terminal's cursor or start a line of its own. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '·')
}
