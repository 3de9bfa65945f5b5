// Files as encoders write them, and files that lie about their length.
import { describe, expect, test } from 'bun:test'
import { soundFormats, soundOf } from '../../../sandbox/audio/encode.ts'
import { audioFormat, audioSeconds } from './measure.ts'

const made = (format: string, seconds: number): Buffer =>
  Buffer.from(soundOf(format, seconds).bytes)

/** An element of Matroska: an id, a size in eight bytes, and what is in it. */
const element = (id: string, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  const size = Buffer.alloc(8)
  size.writeUInt32BE(body.length, 4)
  size[0] = 1
  return Buffer.concat([Buffer.from(id, 'hex'), size, body])
}
const block = Buffer.from([0x81, 0, 0, 0x80, 0xf8, 0xff, 0xfe])
const track = (codec: string) =>
  element('ae', element('d7', Buffer.from([1])), element('86', Buffer.from(codec)))
const recording = (packets: number, codec = 'A_OPUS'): Buffer =>
  Buffer.concat([
    element('1a45dfa3', Buffer.alloc(4)),
    // Recorders do not know the sizes of these two.
    Buffer.from('1853806701ffffffffffffff', 'hex'),
    element('1654ae6b', track(codec)),
    Buffer.from('1f43b67501ffffffffffffff', 'hex'),
    ...Array.from({ length: packets }, () => element('a3', block)),
  ])

const box = (name: string, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(body.length + 8)
  head.write(name, 4, 'latin1')
  return Buffer.concat([head, body])
}
const numbers = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4)
  return bytes
}
/** AAC-LC at 44.1 kHz; `frames` samples are listed. */
function m4a(frames: number, claimed: number): Buffer {
  const config = Buffer.from([0x12, 0x10])
  const decoder = Buffer.concat([
    Buffer.from([4, 17]),
    Buffer.alloc(13),
    Buffer.from([5, 2]),
    config,
  ])
  const esds = box('esds', numbers(0), Buffer.from([3, 22, 0, 0, 0]), decoder)
  const stbl = box(
    'stbl',
    box('stsd', numbers(0, 1), box('mp4a', Buffer.alloc(28), esds)),
    box('stsz', numbers(0, 10, frames)),
  )
  const hdlr = box('hdlr', numbers(0, 0), Buffer.from('soun'), Buffer.alloc(13))
  const mdia = box('mdia', box('mdhd', numbers(0, 0, 0, 44_100, claimed)), hdlr, box('minf', stbl))
  const moov = box('moov', box('mvhd', numbers(0, 0, 0, 1_000, claimed)), box('trak', mdia))
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A \0\0\0\0')),
    moov,
    box('mdat', Buffer.alloc(99)),
  ])
}

test.each(soundFormats.filter((format) => format !== 'pcm'))('%s is measured', (format) => {
  const file = made(format, 7)
  expect(audioFormat(file)).toBeDefined()
  expect(audioSeconds(file)!).toBeGreaterThanOrEqual(7)
  expect(audioSeconds(file)!).toBeLessThan(7.2)
})

test('WAV is measured exactly', () => {
  expect(audioSeconds(made('wav', 1.5))).toBe(1.5)
})

test('recordings of browsers have no length in their head', () => {
  expect(audioSeconds(recording(250))).toBe(5)
  expect(audioSeconds(recording(250).subarray(0, -5))).toBeGreaterThan(4.9)
  expect(audioSeconds(recording(250, 'A_VORBIS'))).toBeUndefined()
})

test('MP4 counts the frames that it lists', () => {
  expect(audioSeconds(m4a(430, 1))).toBeCloseTo((430 * 1_024) / 44_100, 9)
})

describe('a file that claims to be shorter', () => {
  test('by the size of its data', () => {
    const file = made('wav', 10)
    file.writeUInt32LE(4, 40)
    expect(audioSeconds(file)).toBe(10)
  })
  test('by its bytes a second', () => {
    const file = made('wav', 10)
    file.writeUInt32LE(1_000_000_000, 28)
    expect(audioSeconds(file)).toBe(10)
  })
  test('by the number of its samples', () => {
    const file = made('flac', 10)
    file.writeUInt32BE(1, 22)
    expect(audioSeconds(file)!).toBeGreaterThanOrEqual(10)
  })
  test('by its last position', () => {
    const file = made('opus', 10)
    for (let at = file.indexOf('OggS', 60); at !== -1; at = file.indexOf('OggS', at + 1)) {
      file.writeBigInt64LE(1n, at + 6)
    }
    expect(audioSeconds(file)).toBe(10)
  })
  test('by a tag between its frames', () => {
    const half = made('mp3', 5)
    const tag = Buffer.from('ID3\x04\0\0\x7f\x7f\x7f\x7f', 'latin1')
    expect(audioSeconds(Buffer.concat([half, tag, half]))!).toBeGreaterThanOrEqual(10)
  })
})

describe('what is no sound', () => {
  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a text', Buffer.from('not sound at all')],
    ['a head alone', made('wav', 1).subarray(0, 20)],
    ['a format that is not plain samples', withCodec(0x55)],
    ['frames among mostly other bytes', Buffer.concat([made('mp3', 1), Buffer.alloc(40_000, 1)])],
    ['boxes in boxes without end', nested(10_000)],
    ['an Ogg stream with something behind it', Buffer.concat([made('opus', 1), Buffer.alloc(999)])],
  ])('%s has no length', (_, file) => {
    expect(audioSeconds(file)).toBeUndefined()
  })
})

function withCodec(codec: number): Buffer {
  const file = made('wav', 1)
  file.writeUInt16LE(codec, 20)
  return file
}

function nested(depth: number): Buffer {
  const boxes = Buffer.alloc(depth * 8)
  for (let i = 0; i < depth; i++) {
    boxes.writeUInt32BE((depth - i) * 8, i * 8)
    boxes.write('moov', i * 8 + 4, 'latin1')
  }
  return Buffer.concat([box('ftyp', Buffer.alloc(8)), boxes])
}
