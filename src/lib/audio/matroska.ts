// WebM with Opus, as browsers record it: blocks of packets, each of which says how long it is. Files that are written
// while they are recorded have no length in their head at all.
import { opusMs } from './opus.ts'

const ids = {
  segment: 0x18538067,
  cluster: 0x1f43b675,
  tracks: 0x1654ae6b,
  track: 0xae,
  number: 0xd7,
  codec: 0x86,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const
const holders: ReadonlySet<number> = new Set([
  ...[ids.segment, ids.cluster, ids.tracks, ids.blockGroup],
])

interface Found {
  /** By track: the length of its packets. */
  ms: Map<number, number>
  isOther: boolean
}

export function matroskaSeconds(bytes: Buffer): number | undefined {
  const found: Found = { ms: new Map(), isOther: false }
  if (!readElements(bytes, found) || found.isOther || found.ms.size === 0) return undefined
  return Math.max(...found.ms.values()) / 1_000
}

/**
 * False when it is not of the format. What holds others is entered, whatever its size: recordings do not know the
 * sizes of their parts. The last part may be cut off.
 */
function readElements(bytes: Buffer, found: Found): boolean {
  let at = 0
  while (at < bytes.length) {
    const id = numberAt(bytes, at, true)
    const size = id && numberAt(bytes, id.end, false)
    if (id?.value === undefined || size === undefined) return false
    if (holders.has(id.value)) {
      at = size.end
      continue
    }
    if (size.value === undefined) return false
    const end = size.end + size.value
    if (id.value === ids.track) readTrack(bytes, size.end, Math.min(end, bytes.length), found)
    else if (isBlock(id.value)) readBlock(bytes.subarray(size.end, end), found)
    at = end
  }
  return true
}

const isBlock = (id: number): boolean => id === ids.block || id === ids.simpleBlock

function readTrack(bytes: Buffer, from: number, to: number, found: Found): void {
  let [number, codec] = [0, '']
  let at = from
  while (at < to) {
    const id = numberAt(bytes, at, true)
    const size = id && numberAt(bytes, id.end, false)
    if (id === undefined || size?.value === undefined) break
    const end = size.end + size.value
    if (id.value === ids.number) number = bytes.readUIntBE(size.end, Math.min(6, size.value))
    if (id.value === ids.codec) codec = bytes.toString('latin1', size.end, end)
    at = end
  }
  if (codec === 'A_OPUS') found.ms.set(number, 0)
  else if (codec.startsWith('A_')) found.isOther = true
}

function readBlock(block: Buffer, found: Found): void {
  const track = numberAt(block, 0, false)
  const before = found.ms.get(track?.value ?? -1)
  if (track?.value === undefined || before === undefined) return
  const flags = block[track.end + 2] ?? 0
  // Several packets in a block: each is as long as the first, and there are as many as it says.
  const isLaced = (flags & 0x06) !== 0
  const packets = isLaced ? (block[track.end + 3] ?? 0) + 1 : 1
  const start = isLaced ? laceEnd(block, track.end + 4, packets, flags) : track.end + 3
  const ms = opusMs(block.subarray(start, start + 2))
  found.ms.set(track.value, before + ms * packets)
}

/** Behind the sizes of the packets. */
function laceEnd(block: Buffer, from: number, packets: number, flags: number): number {
  if ((flags & 0x06) === 0x04) return from
  let at = from
  if ((flags & 0x06) === 0x02) {
    for (let left = packets - 1; left > 0 && at < block.length; at++) if (block[at] !== 255) left--
    return at
  }
  for (let left = packets - 1; left > 0; left--)
    at = numberAt(block, at, false)?.end ?? block.length
  return at
}

/** A number whose first bits say how many bytes it has; all ones: not known. */
function numberAt(
  bytes: Buffer,
  at: number,
  isId: boolean,
): { value: number | undefined; end: number } | undefined {
  const first = bytes[at]
  if (first === undefined || first === 0) return undefined
  const length = Math.clz32(first) - 23
  const end = at + length
  if (end > bytes.length) return undefined
  let value = isId ? first : first & (0xff >> length)
  let isUnknown = value === 0xff >> length
  for (let i = at + 1; i < end; i++) {
    value = value * 256 + bytes[i]!
    if (bytes[i] !== 0xff) isUnknown = false
  }
  return { value: !isId && isUnknown ? undefined : value, end }
}
