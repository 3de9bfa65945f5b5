// FLAC: frames with numbers that follow each other. What the head of the file says of its length is only believed
// where the frames do not say more.

const minBlock = 16
/** A frame is no longer than this; a longer part of the file without one is not of the format. */
const maxFrameBytes = 1024 * 1024

interface Head {
  rate: number
  samples: number
  /** Where the frames begin. */
  at: number
}

export function flacSeconds(bytes: Buffer): number | undefined {
  const head = headIn(bytes)
  if (head === undefined) return undefined
  let expected = 0
  let samples = 0
  let last = head.at
  let at = bytes.indexOf(0xff, head.at)
  while (at !== -1) {
    const frame = frameAt(bytes, at, expected)
    if (frame !== undefined) {
      expected += frame.isCounted ? 1 : frame.block
      samples += frame.block
      last = at
    }
    at = bytes.indexOf(0xff, at + 1)
  }
  if (bytes.length - last > maxFrameBytes) return undefined
  return Math.max(samples, head.samples) / head.rate
}

function headIn(bytes: Buffer): Head | undefined {
  if (bytes.length < 42 || (bytes[4]! & 0x7f) !== 0) return undefined
  const rate = bytes.readUIntBE(18, 3) >> 4
  if (rate < 1_000) return undefined
  const samples = (bytes[21]! & 15) * 2 ** 32 + bytes.readUInt32BE(22)
  let at = 4
  for (;;) {
    if (at + 4 > bytes.length) return undefined
    const isLast = (bytes[at]! & 0x80) !== 0
    at += 4 + bytes.readUIntBE(at + 1, 3)
    if (isLast) return { rate, samples, at }
  }
}

interface Frame {
  /** The number counts frames; otherwise samples. */
  isCounted: boolean
  block: number
}

/** Undefined unless it has this number and its check sum is right. */
function frameAt(bytes: Buffer, at: number, expected: number): Frame | undefined {
  if (at + 6 > bytes.length || (bytes[at + 1]! & 0xfe) !== 0xf8) return undefined
  const sizes = bytes[at + 2]!
  const blockCode = sizes >> 4
  const number = codedNumber(bytes, at + 4)
  if (number?.value !== expected || blockCode === 0) return undefined
  let end = number.end
  let block =
    blockCode === 1 ? 192 : blockCode < 6 ? 576 << (blockCode - 2) : 256 << (blockCode - 8)
  if (blockCode === 6) block = (bytes[end++] ?? 0) + 1
  if (blockCode === 7) {
    block = ((bytes[end] ?? 0) << 8) + (bytes[end + 1] ?? 0) + 1
    end += 2
  }
  const rateCode = sizes & 15
  if (rateCode === 12) end += 1
  else if (rateCode === 13 || rateCode === 14) end += 2
  if (checkSum(bytes.subarray(at, end)) !== bytes[end]) return undefined
  return {
    isCounted: (bytes[at + 1]! & 1) === 0,
    block: Math.max(block, minBlock),
  }
}

/** As UTF-8 writes numbers, up to seven bytes. */
function codedNumber(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  const first = bytes[at]!
  if (first < 0x80) return { value: first, end: at + 1 }
  let more = 0
  while (more < 7 && (first & (0x40 >> more)) !== 0) more++
  if (more === 0 || more > 6) return undefined
  let value = more >= 6 ? 0 : first & (0x3f >> more)
  for (let i = 1; i <= more; i++) {
    const next = bytes[at + i]!
    if ((next & 0xc0) !== 0x80) return undefined
    value = value * 64 + (next & 0x3f)
  }
  return { value, end: at + more + 1 }
}

/** CRC-8 with the polynomial 0x07. */
function checkSum(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) sum = sums[sum ^ byte]!
  return sum
}

const sums = Uint8Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit++) sum = (sum << 1) ^ (sum & 0x80 ? 0x107 : 0)
  return sum
})
