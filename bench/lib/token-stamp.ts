// What a token of the paced upstream says about itself: when it was sent, and how long the upstream
// had held back the answer before it. Refuses to know what carries it.

interface TokenStamp {
  /** By a clock that all processes of one machine share. */
  sentMs: number
  /** Nothing but the upstream's own doing; 0 for all tokens but the first. */
  heldMs: number
}

/** Wall time with fractions; good for differences between processes, a leap of the clock aside. */
export const wallMs = (): number => performance.timeOrigin + performance.now()

export const stampToken = ({ sentMs, heldMs }: TokenStamp): string =>
  ` @${sentMs.toFixed(3)}+${heldMs.toFixed(3)};`

/** Every stamp in some bytes of a stream. One that was cut in two is left out. */
export function readStamps(text: string): TokenStamp[] {
  const stamps: TokenStamp[] = []
  for (const [, sent, held] of text.matchAll(/ @(\d+\.\d+)\+(\d+\.\d+);/g)) {
    stamps.push({ sentMs: Number(sent), heldMs: Number(held) })
  }
  return stamps
}
