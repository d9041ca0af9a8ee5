import { useMemo } from 'react'
import { encode } from 'uqr'

/** Light modules around the code, as many as ISO/IEC 18004 asks for. */
const quietZone = 4

/** A QR code, drawn black on white in every theme: cameras want it so. */
export function QrCode({ text, label, className }: { text: string; label: string; className?: string }) {
  const { size, path } = useMemo(() => drawQrCode(text), [text])
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className={className}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

/** The code's side in modules, quiet zone included, and its dark modules as one path. */
export function drawQrCode(text: string): { size: number; path: string } {
  const { data } = encode(text, { ecc: 'M', border: quietZone })
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return { size: data.length, path: path.join('') }
}
