// Real sound files without an encoder: a tone as plain samples, and quiet in the formats that compress.
import { crc8, crc16, oggPage } from './checks.ts'

const sampleRate = 24_000

interface Sound {
  contentType: string
  bytes: Uint8Array<ArrayBuffer>
}

const makers: Readonly<Record<string, (seconds: number) => Sound>> = {
  mp3: (seconds) => ({ contentType: 'audio/mpeg', bytes: mp3(seconds) }),
  wav: (seconds) => ({ contentType: 'audio/wav', bytes: wav(seconds) }),
  pcm: (seconds) => ({ contentType: 'audio/pcm', bytes: tone(seconds) }),
  aac: (seconds) => ({ contentType: 'audio/aac', bytes: aac(seconds) }),
  opus: (seconds) => ({ contentType: 'audio/ogg', bytes: opus(seconds) }),
  flac: (seconds) => ({ contentType: 'audio/flac', bytes: flac(seconds) }),
}

export const soundFormats = Object.keys(makers)

export const soundOf = (format: string, seconds: number): Sound => makers[format]!(seconds)

const join = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts))

const repeated = (part: Uint8Array, times: number): Uint8Array<ArrayBuffer> =>
  join(Array.from({ length: times }, () => part))

/** 440 Hz, 16 bits, little end first. */
function tone(seconds: number): Uint8Array<ArrayBuffer> {
  const samples = Int16Array.from({ length: Math.round(seconds * sampleRate) }, (_, i) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * 440 * i) / sampleRate)),
  )
  return new Uint8Array(samples.buffer)
}

function wav(seconds: number): Uint8Array<ArrayBuffer> {
  const data = tone(seconds)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(sampleRate, 24)
  head.writeUInt32LE(sampleRate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(data.length, 40)
  return join([head, data])
}

/** MPEG-2 layer III, 64 kbit/s, mono: 576 samples in 192 bytes. */
function mp3(seconds: number): Uint8Array<ArrayBuffer> {
  const frame = Buffer.alloc(192)
  frame.set([0xff, 0xf3, 0x84, 0xc4])
  return repeated(frame, Math.ceil((seconds * sampleRate) / 576))
}

/** AAC-LC, mono, in ADTS frames of 1024 samples. */
function aac(seconds: number): Uint8Array<ArrayBuffer> {
  const quiet = [0x00, 0xc8, 0x00, 0x80, 0x23, 0x80]
  const size = 7 + quiet.length
  const head = [
    0xff,
    0xf1,
    0x58,
    0x40 | (size >> 11),
    (size >> 3) & 0xff,
    ((size & 7) << 5) | 0x1f,
    0xfc,
  ]
  return repeated(Uint8Array.from([...head, ...quiet]), Math.ceil((seconds * sampleRate) / 1_024))
}

/** Opus in Ogg: packets of 20 ms, fifty on a page. */
function opus(seconds: number): Uint8Array<ArrayBuffer> {
  const head = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1')
  const tags = Buffer.from('OpusTags\x07\0\0\0sandbox\0\0\0\0', 'latin1')
  const packets = Math.ceil(seconds * 50)
  const pages = [oggPage([head], 0n, 0, 2), oggPage([tags], 0n, 1, 0)]
  for (let done = 0; done < packets; done += 50) {
    const count = Math.min(50, packets - done)
    const quiet = Array.from({ length: count }, () => Uint8Array.from([0xf8, 0xff, 0xfe]))
    const isLast = done + count === packets
    pages.push(oggPage(quiet, BigInt((done + count) * 960), pages.length, isLast ? 4 : 0))
  }
  return join(pages)
}

/** FLAC, mono, 16 bits: frames of 4096 equal samples. */
function flac(seconds: number): Uint8Array<ArrayBuffer> {
  const block = 4_096
  const frames = Math.max(1, Math.ceil((seconds * sampleRate) / block))
  const head = Buffer.alloc(42)
  head.write('fLaC', 0, 'latin1')
  head.set([0x80, 0, 0, 34], 4)
  head.writeUInt16BE(block, 8)
  head.writeUInt16BE(block, 10)
  head.writeUIntBE((sampleRate << 4) >>> 0, 18, 3)
  // One channel, sixteen bits.
  head[20] = ((sampleRate & 15) << 4) | 0
  head[21] = 0xf0
  head.writeUInt32BE(frames * block, 22)
  const parts: Uint8Array[] = [head]
  for (let number = 0; number < frames; number++) {
    const start = Buffer.from([0xff, 0xf8, 0xc7, 0x08, ...codedNumber(number)])
    const body = Buffer.from([...start, crc8(start), 0x00, 0x00, 0x00])
    const sum = crc16(body)
    parts.push(body, Uint8Array.from([sum >> 8, sum & 0xff]))
  }
  return join(parts)
}

/** As UTF-8 writes numbers. */
const codedNumber = (value: number): Uint8Array => Buffer.from(String.fromCodePoint(value))
