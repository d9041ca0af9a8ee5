import { z } from 'zod'

/** The one for dark backgrounds, and the one for light ones; a missing one is stood in for by the other. */
export const logoNames = ['Logo', 'LightModeLogo'] as const
export type LogoName = (typeof logoNames)[number]

/** What a logo may be at most: bytes of the file, pixels of each side. Specification README "Settings names". */
export const logoLimits = { bytes: 512 * 1024, pixels: 4096 } as const

/** A picture as its own first bytes describe it, whatever its name or sender says. */
export type LogoImage = { mediaType: 'image/png' | 'image/jpeg'; bytes: Uint8Array<ArrayBuffer> }

type LogoFault = 'err.logoInvalid' | 'err.logoTooLarge' | 'err.logoDimensions'
type Size = { width: number; height: number }

/** A logo as it is sent: base64 of a png or jpeg, '' to remove it. Console §5. */
export const logoSchema = z.string().superRefine((text, context) => {
  const read = text === '' ? undefined : readLogo(text)
  if (typeof read === 'string') context.addIssue({ code: 'custom', message: read })
})

/** The picture behind a base64 text, or what is wrong with it. No other format is taken: an SVG can hold scripts. */
export function readLogo(text: string): LogoImage | LogoFault {
  if (text.length > Math.ceil(logoLimits.bytes / 3) * 4) return 'err.logoTooLarge'
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return 'err.logoInvalid'
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  if (bytes.length > logoLimits.bytes) return 'err.logoTooLarge'
  const png = pngSize(bytes)
  const size = png ?? jpegSize(bytes)
  if (size === undefined) return 'err.logoInvalid'
  const isSane = ({ width, height }: Size) => [width, height].every((side) => side <= logoLimits.pixels)
  if (!isSane(size)) return 'err.logoDimensions'
  return { mediaType: png ? 'image/png' : 'image/jpeg', bytes }
}

/** The signature, the header chunk that has to follow it, and whole chunks up to the last. PNG specification, 5, 11.2. */
function pngSize(bytes: Uint8Array<ArrayBuffer>): Size | undefined {
  if (bytes.length < 33 || !pngStart.every((byte, index) => bytes[index] === byte)) return undefined
  const view = new DataView(bytes.buffer)
  return isWholePng(view) ? toSize(view.getUint32(16), view.getUint32(20)) : undefined
}

/** Browsers draw half of a picture that breaks off. A chunk has its length, its name, its data and a checksum. */
function isWholePng(view: DataView): boolean {
  for (let at = pngSignature; at + 12 <= view.byteLength; at += 12 + view.getUint32(at))
    if (view.getUint32(at + 4) === pngEnd) return true
  return false
}

/** Walks the segments up to the frame header, which must come before the picture's data. ITU T.81, B.1 and B.2.2. */
function jpegSize(bytes: Uint8Array<ArrayBuffer>): Size | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined
  const view = new DataView(bytes.buffer)
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0
    if (isFrame(marker)) return toSize(view.getUint16(at + 7), view.getUint16(at + 5))
    if (!isSegment(marker) && marker !== fill) return undefined
    at += marker === fill ? 1 : 2 + view.getUint16(at + 2)
  }
  return undefined
}

const pngSignature = 8
/** IEND */
const pngEnd = 0x49_45_4e_44
/** The signature, and the length and name of the header chunk. */
const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
/** Any number of these may stand before a marker. */
const fill = 0xff
/** SOF0 to SOF15 but the three markers among them that are something else. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
/** What may come before the frame header, each with its length: tables, application data, comments. */
const isSegment = (marker: number) => marker >= 0xc0 && marker < 0xff && (marker < 0xd0 || marker > 0xda)

const toSize = (width: number, height: number): Size | undefined =>
  width > 0 && height > 0 ? { width, height } : undefined
