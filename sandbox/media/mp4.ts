// An MP4 file around one H.264 track: the index first, so that it plays while it loads. Knows
// nothing of what the frames show.
import { constrainedBaseline } from './h264.ts'

interface Track {
  width: number
  height: number
  level: number
  sequenceParameterSet: Uint8Array
  imageParameterSet: Uint8Array
  /** One unit per frame. */
  frames: readonly Uint8Array[]
  /** Which of them can be played from, counted from 1. */
  keyFrames: readonly number[]
  framesPerSecond: number
}

type Bytes = readonly number[]

/** Divides by every usual number of frames per second. */
const timescale = 12_000
const lengthBytes = 4
const undetermined = 0x55c4

const u16 = (value: number): Bytes => [(value >>> 8) & 0xff, value & 0xff]
const u32 = (value: number): Bytes => [...u16(value >>> 16), ...u16(value & 0xffff)]
const text = (value: string): Bytes => [...Buffer.from(value, 'latin1')]
const zeros = (count: number): Bytes => Array<number>(count).fill(0)
const one = u32(0x00010000)
const straight = [one, zeros(12), one, zeros(12), u32(0x40000000)].flat()

function box(name: string, ...parts: readonly Bytes[]): Bytes {
  const body = parts.flat()
  return [...u32(8 + body.length), ...text(name), ...body]
}

const fullBox = (name: string, flags: number, ...parts: readonly Bytes[]): Bytes =>
  box(name, u32(flags), ...parts)

export function mp4Of(track: Track): Uint8Array<ArrayBuffer> {
  const brands = ['isom', 'iso2', 'avc1', 'mp41'].map(text)
  const head = box('ftyp', text('isom'), u32(512), ...brands)
  const mediaBytes = track.frames.reduce((sum, unit) => sum + lengthBytes + unit.length, 0)
  const mediaHead = [...u32(8 + mediaBytes), ...text('mdat')]
  // The index tells where the frames begin, and its own size does not depend on that.
  const indexBytes = movie(track, 0).length
  const start = head.length + indexBytes + mediaHead.length
  const file = new Uint8Array(start + mediaBytes)
  file.set([...head, ...movie(track, start), ...mediaHead])
  let at = start
  for (const unit of track.frames) {
    file.set(u32(unit.length), at)
    file.set(unit, at + lengthBytes)
    at += lengthBytes + unit.length
  }
  return file
}

const durationOf = ({ frames, framesPerSecond }: Track): number =>
  (frames.length * timescale) / framesPerSecond

function movie(track: Track, mediaStart: number): Bytes {
  const duration = u32(durationOf(track))
  const times = zeros(8)
  const movieHeader = [times, u32(timescale), duration, one, u16(0x0100), zeros(10), straight]
  const size = [u32(track.width * 0x10000), u32(track.height * 0x10000)]
  const trackHeader = [times, u32(1), zeros(4), duration, zeros(16), straight, ...size]
  return box(
    'moov',
    fullBox('mvhd', 0, ...movieHeader, zeros(24), u32(2)),
    box('trak', fullBox('tkhd', 3, ...trackHeader), media(track, mediaStart)),
  )
}

function media(track: Track, mediaStart: number): Bytes {
  const clock = [u32(timescale), u32(durationOf(track))]
  return box(
    'mdia',
    fullBox('mdhd', 0, zeros(8), ...clock, u16(undetermined), u16(0)),
    fullBox('hdlr', 0, zeros(4), text('vide'), zeros(12), text('sandbox\0')),
    box(
      'minf',
      fullBox('vmhd', 1, zeros(8)),
      box('dinf', fullBox('dref', 0, u32(1), fullBox('url ', 1))),
      sampleTable(track, mediaStart),
    ),
  )
}

function sampleTable(track: Track, mediaStart: number): Bytes {
  const count = u32(track.frames.length)
  const keys = track.keyFrames.map(u32)
  const sizes = track.frames.map((unit) => u32(lengthBytes + unit.length))
  return box(
    'stbl',
    fullBox('stsd', 0, u32(1), sampleEntry(track)),
    fullBox('stts', 0, u32(1), count, u32(timescale / track.framesPerSecond)),
    fullBox('stss', 0, u32(keys.length), ...keys),
    fullBox('stsc', 0, u32(1), u32(1), count, u32(1)),
    fullBox('stsz', 0, u32(0), count, ...sizes),
    fullBox('stco', 0, u32(1), u32(mediaStart)),
  )
}

function sampleEntry(track: Track): Bytes {
  const { profile, constraints } = constrainedBaseline
  const { sequenceParameterSet, imageParameterSet } = track
  const dotsPerInch = u32(72 * 0x10000)
  return box(
    'avc1',
    [...zeros(6), ...u16(1), ...zeros(16), ...u16(track.width), ...u16(track.height)],
    [...dotsPerInch, ...dotsPerInch, ...zeros(4), ...u16(1), ...zeros(32), ...u16(24)],
    u16(0xffff),
    box(
      'avcC',
      [1, profile, constraints, track.level, 0xfc | (lengthBytes - 1)],
      [0xe0 | 1, ...u16(sequenceParameterSet.length), ...sequenceParameterSet],
      [1, ...u16(imageParameterSet.length), ...imageParameterSet],
    ),
  )
}
