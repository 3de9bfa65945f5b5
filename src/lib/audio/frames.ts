// MP3 and AAC as a row of frames, each with a head that says how many samples it has. Bytes between frames
// count like frames: a decoder may find sound in them. A file with more of them than frames cannot be measured.

const rates = {
  mpeg1: [44_100, 48_000, 32_000],
  mpeg2: [22_050, 24_000, 16_000],
  mpeg25: [11_025, 12_000, 8_000],
} as const

/** Kilobits a second by version and layer, from index 1 on. */
const bitrates = {
  v1l1: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  v1l2: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  v1l3: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  v2l1: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  v2l3: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const

interface Frame {
  bytes: number
  seconds: number
}

export const mp3Seconds = (bytes: Buffer): number | undefined =>
  sumFrames(bytes, afterId3(bytes, 0), mpegFrame)

export const aacSeconds = (bytes: Buffer): number | undefined => sumFrames(bytes, 0, aacFrame)

function sumFrames(
  bytes: Buffer,
  from: number,
  frameAt: (bytes: Buffer, at: number) => Frame | undefined,
): number | undefined {
  let seconds = 0
  let framed = 0
  let at = from
  while (at < bytes.length) {
    const frame = frameAt(bytes, at)
    if (frame !== undefined) {
      seconds += frame.seconds
      framed += Math.min(frame.bytes, bytes.length - at)
      at += frame.bytes
      continue
    }
    const next = bytes.indexOf(0xff, at + 1)
    at = next === -1 ? bytes.length : next
  }
  const all = bytes.length - from
  // Tags and pictures are less than the sound; they count as if they were some, too.
  return framed < all / 2 ? undefined : (seconds * all) / Math.max(framed, 1)
}

function afterId3(bytes: Buffer, from: number): number {
  let at = from
  while (bytes.toString('latin1', at, at + 3) === 'ID3' && at + 10 <= bytes.length) {
    let size = 0
    for (let i = 6; i < 10; i++) size = size * 128 + (bytes[at + i]! & 0x7f)
    at += 10 + size
  }
  return at
}

function mpegFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 4 > bytes.length || bytes[at] !== 0xff || (bytes[at + 1]! & 0xe0) !== 0xe0) {
    return undefined
  }
  const [second, third] = [bytes[at + 1]!, bytes[at + 2]!]
  const version = (second >> 3) & 3
  const layer = 4 - ((second >> 1) & 3)
  const rateIndex = (third >> 2) & 3
  if (version === 1 || layer === 4 || rateIndex === 3) return undefined
  const isFirst = version === 3
  const table = isFirst ? rates.mpeg1 : version === 2 ? rates.mpeg2 : rates.mpeg25
  const rate = table[rateIndex]!
  const kilobits = bitrateOf(isFirst, layer, third >> 4)
  if (kilobits === undefined) return undefined
  const padding = (third >> 1) & 1
  const samples = layer === 1 ? 384 : layer === 3 && !isFirst ? 576 : 1_152
  const bytesOf =
    layer === 1
      ? (Math.floor((12_000 * kilobits) / rate) + padding) * 4
      : Math.floor((samples * 125 * kilobits) / rate) + padding
  return { bytes: bytesOf, seconds: samples / rate }
}

function bitrateOf(isFirst: boolean, layer: number, index: number): number | undefined {
  const second = layer === 1 ? bitrates.v2l1 : bitrates.v2l3
  const first = [bitrates.v1l1, bitrates.v1l2, bitrates.v1l3][layer - 1]!
  return (isFirst ? first : second)[index - 1]
}

export const aacRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
] as const
export const aacSamples = 1_024

function aacFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 7 > bytes.length || bytes[at] !== 0xff || (bytes[at + 1]! & 0xf6) !== 0xf0) {
    return undefined
  }
  const rate = aacRates[(bytes[at + 2]! >> 2) & 15]
  const size = ((bytes[at + 3]! & 3) << 11) | (bytes[at + 4]! << 3) | (bytes[at + 5]! >> 5)
  const blocks = (bytes[at + 6]! & 3) + 1
  if (rate === undefined || size < 7) return undefined
  return { bytes: size, seconds: (aacSamples * blocks) / rate }
}
