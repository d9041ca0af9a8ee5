import { deflateSync } from 'node:zlib'

type Colour = readonly [red: number, green: number, blue: number]

/** A real PNG of one colour, as any program writes it. */
export function aPng({
  width = 96,
  height = 32,
  colour = [120, 40, 200],
}: {
  width?: number
  height?: number
  colour?: Colour
} = {}): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // 8 bits, true colour.
  header.set([8, 2, 0, 0, 0], 8)
  const row = Buffer.concat([Buffer.from([0]), Buffer.concat(Array<Buffer>(width).fill(Buffer.from(colour)))])
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const data = deflateSync(Buffer.concat(Array<Buffer>(height).fill(row)))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** A PNG of so many bytes: what follows its end is of no use to anybody. */
export const aPngOf = (bytes: number): Buffer => Buffer.concat([aPng(), Buffer.alloc(bytes - aPng().length)])

/** The beginning of a JPEG up to its frame header, with the segments that cameras write before it. */
export function aJpeg({ width = 96, height = 32 }: { width?: number; height?: number } = {}): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt16BE(height, 0)
  size.writeUInt16BE(width, 2)
  const application = Buffer.from([0xff, 0xe0, 0, 16, ...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0])
  const comment = Buffer.from([0xff, 0xff, 0xfe, 0, 5, ...Buffer.from('abc')])
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, ...size, 1, 1, 0x11, 0])
  return Buffer.concat([Buffer.from([0xff, 0xd8]), application, comment, frame, Buffer.from([0xff, 0xd9])])
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const body = Buffer.concat([Buffer.from(type), data])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** PNG specification, annex D. */
function crc32(bytes: Buffer): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return (sum ^ 0xffffffff) >>> 0
}
