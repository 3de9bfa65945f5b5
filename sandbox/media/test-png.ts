// Reads PNG files for tests: every chunk with its sum, every row with its filter.
import { crc32, inflateSync } from 'node:zlib'

export interface ReadPng {
  width: number
  height: number
  chunks: string[]
  /** The colour of a point, as three numbers. */
  at(x: number, y: number): number[]
}

const signature = '89504e470d0a1a0a'

export function readPng(bytes: Uint8Array): ReadPng {
  const file = Buffer.from(bytes)
  if (file.subarray(0, 8).toString('hex') !== signature) throw new Error('no PNG file')
  const parts = new Map<string, Buffer>()
  let from = 8
  while (from < file.length) {
    const length = file.readUInt32BE(from)
    const end = from + 8 + length
    const type = file.toString('latin1', from + 4, from + 8)
    if (crc32(file.subarray(from + 4, end)) !== file.readUInt32BE(end)) {
      throw new Error(`wrong sum of ${type}`)
    }
    parts.set(type, file.subarray(from + 8, end))
    from = end + 4
  }
  const header = parts.get('IHDR')!
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  if (header.subarray(8).toString('hex') !== '0803000000') throw new Error('another kind of PNG')
  const points = unfilter(inflateSync(parts.get('IDAT')!), width, height)
  const palette = parts.get('PLTE')!
  const at = (x: number, y: number) => {
    const colour = 3 * points[y * width + x]!
    if (colour + 3 > palette.length) throw new Error('a colour that is not in the palette')
    return [...palette.subarray(colour, colour + 3)]
  }
  return { width, height, chunks: [...parts.keys()], at }
}

function unfilter(rows: Buffer, width: number, height: number): Uint8Array {
  if (rows.length !== (width + 1) * height) throw new Error('too few points, or too many')
  const points = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (width + 1)]
    if (filter !== 0 && filter !== 2) throw new Error(`filter ${filter}`)
    for (let x = 0; x < width; x++) {
      const above = filter === 2 && y > 0 ? points[(y - 1) * width + x]! : 0
      points[y * width + x] = (rows[y * (width + 1) + 1 + x]! + above) & 255
    }
  }
  return points
}

/** How many points of two images of the same size differ, as a share. */
export function differingShare(one: ReadPng, other: ReadPng, step = 7): number {
  let [seen, different] = [0, 0]
  for (let y = 0; y < one.height; y += step) {
    for (let x = 0; x < one.width; x += step) {
      seen++
      if (String(one.at(x, y)) !== String(other.at(x, y))) different++
    }
  }
  return different / seen
}
