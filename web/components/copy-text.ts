/** Puts a text on the clipboard; false when the browser refuses. The clipboard API is missing on plain http. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

function copyBySelection(text: string): boolean {
  const host = document.querySelector('[role="dialog"],[role="alertdialog"]') ?? document.body
  const before = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'sr-only'
  host.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  return isCopied
}
