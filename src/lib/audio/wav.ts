// WAV: samples of a fixed size. All bytes behind the head of the data count as samples, whatever their chunk says:
// decoders of streams read on to the end.

const codecs = { pcm: 1, float: 3, aLaw: 6, muLaw: 7, extensible: 0xfffe }
const plain: readonly number[] = Object.values(codecs)
const maxRate = 384_000
const maxChannels = 32
const maxChunks = 1_000

interface Format {
  rate: number
  bytesPerMoment: number
}

export function wavSeconds(bytes: Buffer): number | undefined {
  let format: Format | undefined
  let at = 12
  for (let chunks = 0; at + 8 <= bytes.length && chunks < maxChunks; chunks++) {
    const name = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32LE(at + 4)
    if (name === 'data') {
      const data = bytes.length - at - 8
      return format === undefined ? undefined : data / (format.rate * format.bytesPerMoment)
    }
    if (name === 'fmt ') format ??= formatIn(bytes.subarray(at + 8, at + 8 + size))
    at += 8 + size + (size % 2)
  }
  return undefined
}

function formatIn(chunk: Buffer): Format | undefined {
  if (chunk.length < 16) return undefined
  const codec = chunk.readUInt16LE(0)
  const own = codec === codecs.extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : codec
  const [channels, rate, bits] = [
    chunk.readUInt16LE(2),
    chunk.readUInt32LE(4),
    chunk.readUInt16LE(14),
  ]
  const isKnown = plain.includes(own) && own !== codecs.extensible
  const isSound = channels >= 1 && channels <= maxChannels && rate >= 1_000 && rate <= maxRate
  if (!isKnown || !isSound || bits < 8 || bits > 64 || bits % 8 !== 0) return undefined
  return { rate, bytesPerMoment: (channels * bits) / 8 }
}
