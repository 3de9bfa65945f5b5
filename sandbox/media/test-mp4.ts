// Reads MP4 files for tests: boxes by their path, and what the index says. Shares no code with
// what writes them.

export interface Box {
  name: string
  /** Of the body, in the file. */
  start: number
  end: number
}

const parents: Readonly<Record<string, number>> = {
  moov: 0,
  trak: 0,
  mdia: 0,
  minf: 0,
  stbl: 0,
  dinf: 0,
  stsd: 8,
  avc1: 78,
}

/** Every box with its path: 'moov/trak/tkhd'. Throws where the boxes do not tile the file. */
function boxesOf(file: Buffer, start = 0, end = file.length, above = ''): Map<string, Box> {
  const found = new Map<string, Box>()
  let at = start
  while (at < end) {
    const size = file.readUInt32BE(at)
    const name = file.toString('latin1', at + 4, at + 8)
    if (size < 8 || at + size > end) throw new Error(`box ${above}${name} has size ${size}`)
    const path = `${above}${name}`
    const box = { name, start: at + 8, end: at + size }
    found.set(path, box)
    const skipped = parents[name]
    if (skipped !== undefined) {
      const inner = boxesOf(file, box.start + skipped, box.end, `${path}/`)
      for (const [key, value] of inner) found.set(key, value)
    }
    at += size
  }
  return found
}

const table = 'moov/trak/mdia/minf/stbl'

export function readMovie(bytes: Uint8Array) {
  const file = Buffer.from(bytes)
  const boxes = boxesOf(file)
  const number = (path: string, offset: number) =>
    file.readUInt32BE(boxes.get(path)!.start + offset)
  const numbers = (path: string, offset: number, count: number) =>
    Array.from({ length: count }, (_, i) => number(path, offset + 4 * i))
  const sizes = numbers(`${table}/stsz`, 12, number(`${table}/stsz`, 8))
  const keyFrames = numbers(`${table}/stss`, 8, number(`${table}/stss`, 4))
  const chunk = number(`${table}/stco`, 8)
  let at = chunk
  const frames = sizes.map((size) => {
    at += size
    return file.subarray(at - size, at)
  })
  const entry = boxes.get(`${table}/stsd/avc1`)!.start
  const config = boxes.get(`${table}/stsd/avc1/avcC`)!
  return {
    order: [...boxes.keys()].filter((path) => !path.includes('/')),
    media: boxes.get('mdat')!,
    chunk,
    frames,
    keyFrames,
    framesEnd: at,
    movieSeconds: number('moov/mvhd', 16) / number('moov/mvhd', 12),
    trackSeconds: number('moov/trak/mdia/mdhd', 16) / number('moov/trak/mdia/mdhd', 12),
    frameSeconds: number(`${table}/stts`, 12) / number('moov/trak/mdia/mdhd', 12),
    frameCount: number(`${table}/stts`, 8),
    width: file.readUInt16BE(entry + 24),
    height: file.readUInt16BE(entry + 26),
    shown: [number('moov/trak/tkhd', 76) / 65_536, number('moov/trak/tkhd', 80) / 65_536],
    config: file.subarray(config.start, config.end),
  }
}

/** The size a sequence set of the baseline profile declares, coded and cut. */
export function readSequenceParameterSet(unit: Uint8Array) {
  const bits = [...unit.subarray(4)].flatMap((byte) => [...byte.toString(2).padStart(8, '0')])
  const take = (count: number) => Number.parseInt(bits.splice(0, count).join('') || '0', 2)
  const golomb = () => {
    const zeros = bits.indexOf('1')
    return take(2 * zeros + 1) - 1
  }
  const [, , order] = [golomb(), golomb(), golomb()]
  golomb()
  take(1)
  const coded = [16 * (golomb() + 1), 16 * (golomb() + 1)] as const
  take(2)
  const [left, right, top, bottom] =
    take(1) === 1 ? [golomb(), golomb(), golomb(), golomb()] : [0, 0, 0, 0]
  const width = coded[0] - 2 * (left! + right!)
  const height = coded[1] - 2 * (top! + bottom!)
  return { profile: unit[1], constraints: unit[2], level: unit[3], order, coded, width, height }
}
