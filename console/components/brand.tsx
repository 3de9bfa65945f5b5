// The mark: an m of two gates with a meter in one of them. Drawn in the color of the text and the accent.
export const Mark = ({ size = 20 }: { size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
    <path d="M0 15V5.500a4.500 4.500 0 0 1 8-2.840A4.500 4.500 0 0 1 16 5.500V15h-2V5.500a2.500 2.500 0 0 0-5 0V15H7V5.500a2.500 2.500 0 0 0-5 0V15z" />
    <path d="M10 8h3v7h-3z" className="brand-accent" />
  </svg>
)

export const Brand = () => (
  <span className="brand">
    <Mark />
    Model Gateway
  </span>
)
