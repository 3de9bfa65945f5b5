// Writes PNG files of few colours: a byte for each point, which names a colour of a palette. Knows
// nothing of what is drawn.
import { crc32, deflateSync } from 'node:zlib'

export type Rgb = readonly [red: number, green: number, blue: number]

export interface Canvas {
  width: number
  height: number
  /** Row by row; each one the number of a colour. */
  points: Uint8Array
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const bitsPerPoint = 8
const paletteColours = 3
const asItIs = 0
const lessTheRowAbove = 2
/** Flat areas shrink to nothing at any level, and the lowest is quick. */
const level = 1

export function pngOf(
  { width, height, points }: Canvas,
  palette: readonly Rgb[],
): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([bitsPerPoint, paletteColours, 0, 0, 0], 8)
  const file = Buffer.concat([
    Buffer.from(signature),
    chunkOf('IHDR', header),
    chunkOf('PLTE', Buffer.from(palette.flat())),
    chunkOf('IDAT', deflateSync(rowsOf(width, height, points), { level })),
    chunkOf('IEND', Buffer.alloc(0)),
  ])
  return new Uint8Array(file)
}

/** A row like the one above it becomes zeros, so that large images cost little. */
function rowsOf(width: number, height: number, points: Uint8Array): Uint8Array {
  const rows = new Uint8Array((width + 1) * height)
  let above: Uint8Array | undefined
  for (let y = 0; y < height; y++) {
    const row = points.subarray(y * width, (y + 1) * width)
    const isSame = above !== undefined && Buffer.compare(row, above) === 0
    rows[y * (width + 1)] = isSame ? lessTheRowAbove : asItIs
    if (!isSame) rows.set(row, y * (width + 1) + 1)
    above = row
  }
  return rows
}

function chunkOf(type: string, content: Buffer): Buffer {
  const chunk = Buffer.alloc(content.length + 12)
  chunk.writeUInt32BE(content.length, 0)
  chunk.write(type, 4, 'latin1')
  chunk.set(content, 8)
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4)
  return chunk
}
