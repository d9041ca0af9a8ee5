import { logoLimits, readLogo } from '#server/settings/logo.schema.ts'

/** A picture as a data: address, which is what the form holds until it is saved, or what is wrong with the file. */
export type PickedLogo = { picture: string } | { fault: string }

/** Reads a file that was picked or dropped by the server's own rules, and sees whether the browser can draw it. */
export async function readLogoFile(file: File): Promise<PickedLogo> {
  if (file.size > logoLimits.bytes) return { fault: 'err.logoTooLarge' }
  const base64 = await toBase64(file).catch(() => '')
  const read = readLogo(base64)
  if (typeof read === 'string') return { fault: read }
  const picture = `data:${read.mediaType};base64,${base64}`
  return (await canDraw(picture)) ? { picture } : { fault: 'err.logoInvalid' }
}

/** What is sent of it: the base64 alone. */
export const toLogoBody = (value: string): string => value.replace(/^data:[^,]*,/, '')

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () =>
      resolve(toLogoBody(typeof reader.result === 'string' ? reader.result : '')),
    )
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The file could not be read.')))
    reader.readAsDataURL(file)
  })
}

async function canDraw(address: string): Promise<boolean> {
  const image = new Image()
  image.src = address
  return image.decode().then(
    () => true,
    () => false,
  )
}
