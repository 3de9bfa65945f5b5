// The length of an Opus packet, which its first two bytes say.

/** Milliseconds of a frame by configuration, four of each kind. */
const frameMs = [10, 20, 40, 60, 10, 20, 40, 60, 10, 20, 40, 60, 10, 20, 10, 20] as const
const shortMs = [2.5, 5, 10, 20] as const
/** The longest that the format allows. */
const maxPacketMs = 120

/** In milliseconds, whose sum is exact. */
export function opusMs(packet: Buffer): number {
  const first = packet[0]
  if (first === undefined) return 0
  const configuration = first >> 3
  const each = configuration < 16 ? frameMs[configuration]! : shortMs[configuration & 3]!
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? (packet[1] ?? 0) & 63 : 2
  return Math.min(each * frames, maxPacketMs)
}
