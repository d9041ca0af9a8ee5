/** A wall of doors, one of them open: decoration beside the login. */
export function DoorScene() {
  return (
    <div aria-hidden="true" className="relative hidden overflow-hidden bg-accent-soft lg:block">
      <svg viewBox="0 0 800 900" preserveAspectRatio="xMidYMax slice" className="absolute inset-0 size-full">
        <defs>
          <linearGradient id="beam" x1="0" y1="0" x2="0" y2="1">
            <stop offset="0" className="[stop-color:var(--glow)]" stopOpacity="0.85" />
            <stop offset="1" className="[stop-color:var(--glow)]" stopOpacity="0" />
          </linearGradient>
          <linearGradient id="wall" x1="0" y1="0" x2="0" y2="1">
            <stop offset="0" className="[stop-color:var(--accent)]" stopOpacity="0" />
            <stop offset="1" className="[stop-color:var(--accent)]" stopOpacity="0.16" />
          </linearGradient>
        </defs>
        <rect width="800" height="700" fill="url(#wall)" />
        <rect y="700" width="800" height="200" className="fill-accent" opacity="0.22" />
        <ClosedDoor x={70} />
        <ClosedDoor x={560} />
        <path d="M308 700V330a92 92 0 0 1 184 0v370z" className="fill-(--glow)" />
        <path d="M308 700h184L690 900H150z" fill="url(#beam)" />
        <path d="M308 700V330c0-40 26-75 62-87.500L400 268v468z" className="fill-accent" />
        <circle cx="384" cy="520" r="7" className="fill-on-accent" />
        <path d="M308 700V330a92 92 0 0 1 184 0v370" fill="none" strokeWidth="10" className="stroke-accent" />
      </svg>
    </div>
  )
}

function ClosedDoor({ x }: { x: number }) {
  return (
    <g transform={`translate(${x} 0)`} className="fill-accent stroke-accent">
      <path d="M0 700V375a85 85 0 0 1 170 0v325z" opacity="0.28" stroke="none" />
      <path d="M0 700V375a85 85 0 0 1 170 0v325" fill="none" strokeWidth="6" opacity="0.5" />
      <circle cx="142" cy="525" r="6" opacity="0.6" stroke="none" />
    </g>
  )
}
