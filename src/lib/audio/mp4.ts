// MP4 with AAC: each sample that the tables list is one frame of a fixed number of samples of sound. Files in
// fragments list them in each fragment.
import { aacRates, aacSamples } from './frames.ts'

interface Track {
  rate: number
  /** Sound samples in one frame. */
  perFrame: number
  frames: number
}

interface Found {
  track: Track | undefined
  /** Frames of fragments, which may be of any track. */
  fragmentFrames: number
  isOther: boolean
}

const holders: ReadonlySet<string> = new Set(['moov', 'moof', 'traf'])

export function mp4Seconds(bytes: Buffer): number | undefined {
  const found: Found = { track: undefined, fragmentFrames: 0, isOther: false }
  if (!readBoxes(bytes, 0, bytes.length, found, maxDepth)) return undefined
  const { track, fragmentFrames, isOther } = found
  if (track === undefined || isOther) return undefined
  return ((track.frames + fragmentFrames) * track.perFrame) / track.rate
}

type Visit = (name: string, from: number, to: number) => boolean

/** False when it is not of the format. */
function eachBox(bytes: Buffer, from: number, to: number, visit: Visit): boolean {
  let at = from
  while (at + 8 <= to) {
    const name = bytes.toString('latin1', at + 4, at + 8)
    const short = bytes.readUInt32BE(at)
    const isLong = short === 1 && at + 16 <= to
    const size = short === 0 ? to - at : isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short
    const head = isLong ? 16 : 8
    if (size < head || at + size > to) return false
    if (!visit(name, at + head, at + size)) return false
    at += size
  }
  return true
}

const maxDepth = 6

const readBoxes = (bytes: Buffer, from: number, to: number, found: Found, depth: number): boolean =>
  depth > 0 &&
  eachBox(bytes, from, to, (name, start, end) => {
    if (holders.has(name)) return readBoxes(bytes, start, end, found, depth - 1)
    if (name === 'trak') readTrack(bytes, start, end, found)
    if (name === 'trun' && end - start >= 8) {
      found.fragmentFrames += bytes.readUInt32BE(start + 4)
    }
    return true
  })

function readTrack(bytes: Buffer, from: number, to: number, found: Found): void {
  const boxes = new Map<string, [number, number]>()
  const inner = new Set(['mdia', 'minf', 'stbl'])
  const walk = (start: number, end: number, depth: number): boolean =>
    depth > 0 &&
    eachBox(bytes, start, end, (name, at, until) => {
      if (!boxes.has(name)) boxes.set(name, [at, until])
      return inner.has(name) ? walk(at, until, depth - 1) : true
    })
  walk(from, to, maxDepth)
  const handler = boxes.get('hdlr')?.[0]
  if (handler === undefined || bytes.toString('latin1', handler + 8, handler + 12) !== 'soun')
    return
  const [described, sizes] = [boxes.get('stsd'), boxes.get('stsz') ?? boxes.get('stz2')]
  const config = described && configIn(bytes.subarray(...described))
  if (config === undefined || sizes === undefined || sizes[1] - sizes[0] < 12) {
    found.isOther = true
    return
  }
  const track = { ...config, frames: bytes.readUInt32BE(sizes[0] + 8) }
  const before = found.track
  const isLonger = before === undefined || secondsOf(track) > secondsOf(before)
  if (isLonger) found.track = track
}

const secondsOf = ({ frames, perFrame, rate }: Track): number => (frames * perFrame) / rate

/** The configuration that a decoder reads: what the boxes around it say of the rate does not count. */
function configIn(described: Buffer): Pick<Track, 'rate' | 'perFrame'> | undefined {
  const at = described.indexOf('esds')
  if (at === -1) return undefined
  // Tag 5 holds the configuration; its size may be written in up to four bytes.
  let tag = described.indexOf(5, at + 8)
  while (tag !== -1) {
    let start = tag + 1
    while (start < tag + 4 && (described[start]! & 0x80) !== 0) start++
    const size = described[start]!
    const config = described.subarray(start + 1, start + 1 + size)
    const rate = config.length >= 2 ? rateIn(config) : undefined
    if (rate !== undefined) return rate
    tag = described.indexOf(5, tag + 1)
  }
  return undefined
}

function rateIn(config: Buffer): Pick<Track, 'rate' | 'perFrame'> | undefined {
  const kind = config[0]! >> 3
  const rate = aacRates[((config[0]! & 7) << 1) | (config[1]! >> 7)]
  // Plain AAC, and AAC whose upper half is told apart: its frames are as long in seconds.
  if (rate === undefined || ![1, 2, 3, 4, 5, 29].includes(kind)) return undefined
  return { rate, perFrame: aacSamples }
}
