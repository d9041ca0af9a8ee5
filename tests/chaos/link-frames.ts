/** Longest frame that the protocol has, with room for its head. */
const longestFrame = 1_048_576 + 64

/**
 * Takes what a server says on a WebSocket, in whatever pieces it comes, and answers its whole frames (RFC 6455, 5.2),
 * heads included. @throws Error for a frame that is longer than any of ours.
 */
export function createFrameReader(): (chunk: Buffer) => Buffer[] {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const frames: Buffer[] = []
    for (let size = sizeOf(rest); size !== null && size <= rest.length; size = sizeOf(rest)) {
      frames.push(rest.subarray(0, size))
      rest = rest.subarray(size)
    }
    return frames
  }
}

/** Bytes of the frame that begins here; null while its head is not whole. */
function sizeOf(bytes: Buffer): number | null {
  const head = headOf(bytes)
  if (head === null || bytes.length < head) return null
  const short = (bytes[1] ?? 0) & 0x7f
  const length =
    short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (length > longestFrame) throw new Error(`a frame of ${length} bytes`)
  return head + length
}

function headOf(bytes: Buffer): number | null {
  if (bytes.length < 2) return null
  const short = (bytes[1] ?? 0) & 0x7f
  return 2 + (short === 126 ? 2 : short === 127 ? 8 : 0)
}

const wholeText = 0x81

/** Whether a frame is a message of the protocol that brings orders. */
export function bringsOrders(frame: Buffer): boolean {
  if (frame[0] !== wholeText) return false
  return frame.subarray(headOf(frame) ?? 0).includes('"type":"orders"')
}
