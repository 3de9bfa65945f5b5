// An image of a given size: shapes and colours chosen by its seed and its place in the row, which
// stand written on it. One made from other images bears their mark and how much of it is theirs.
// Same image, same bytes.
import { hasDot, letterHeight, letterWidth } from './bitmap-font.ts'
import { type Canvas, pngOf, type Rgb } from './png.ts'

export interface Image {
  width: number
  height: number
  /** Hexadecimal digits; the first six are written on it. */
  seed: string
  /** Its place among those asked for together, from 0. */
  index: number
  source?: ImageSource
}

/** The images it was made from. */
export interface ImageSource {
  count: number
  /** Six hexadecimal digits made from those images; they are drawn as a pattern. */
  mark: string
  /** How much it shall be like them, in percent. */
  fidelity: number
}

interface Box {
  x: number
  y: number
  width: number
  height: number
}

const writtenDigits = 6
const shapes = 6
const ink = 1
const background = 2
const sourceInk = 3
const firstShapeColour = 4
const black: Rgb = [24, 24, 27]
const white: Rgb = [250, 250, 250]

export function drawImage(image: Image): Uint8Array<ArrayBuffer> {
  const { width, height, seed, index, source } = image
  const chance = chanceOf(`${seed} ${index}`)
  const canvas = { width, height, points: new Uint8Array(width * height) }
  const sourceColour: Rgb = source === undefined ? black : markColour(source.mark)
  const palette: Rgb[] = [lightColour(chance), black, white, sourceColour]
  for (let i = 0; i < shapes; i++) {
    drawShape(canvas, chance, firstShapeColour + i)
    palette.push(strongColour(chance))
  }
  const dot = Math.max(1, Math.floor(Math.min(width / 120, height / 80)))
  write(canvas, `${seed.slice(0, writtenDigits)} #${index}`, 2 * dot, 2 * dot, dot)
  if (source !== undefined) drawSource(canvas, source, dot)
  return pngOf(canvas, palette)
}

/** Numbers from 0 to 255, one after the other, decided by a text. */
function chanceOf(text: string): () => number {
  const bytes = new Bun.CryptoHasher('sha512').update(text).digest()
  let at = 0
  return () => bytes[at++ % bytes.length]!
}

const lightColour = (chance: () => number): Rgb => [
  150 + (chance() % 100),
  150 + (chance() % 100),
  150 + (chance() % 100),
]

const strongColour = (chance: () => number): Rgb => [chance(), chance(), chance()]

/** A rectangle or an ellipse, somewhere. */
function drawShape(canvas: Canvas, chance: () => number, colour: number): void {
  const part = (whole: number, share: number) => Math.floor((whole * share) / 256)
  const isRound = chance() % 2 === 0
  const width = part(canvas.width, 40 + (chance() % 100))
  const height = part(canvas.height, 40 + (chance() % 100))
  const x = part(canvas.width - width, chance())
  const y = part(canvas.height - height, chance())
  if (isRound) fillEllipse(canvas, { x, y, width, height }, colour)
  else fillBox(canvas, { x, y, width, height }, colour)
}

/** What reaches beyond the edge is left out. */
function fillBox({ width, height, points }: Canvas, box: Box, colour: number): void {
  const right = Math.min(box.x + box.width, width)
  const bottom = Math.min(box.y + box.height, height)
  for (let y = box.y; y < bottom; y++) points.fill(colour, y * width + box.x, y * width + right)
}

function fillEllipse(canvas: Canvas, box: Box, colour: number): void {
  const half = box.width / 2
  for (let y = 0; y < box.height; y++) {
    const off = (2 * y + 1) / box.height - 1
    const reach = Math.floor(half * Math.sqrt(1 - off * off))
    const x = Math.floor(box.x + half) - reach
    fillBox(canvas, { x, y: box.y + y, width: 2 * reach, height: 1 }, colour)
  }
}

/** Black on white, with a margin of one dot. */
function write(canvas: Canvas, text: string, x: number, y: number, dot: number): void {
  const step = (letterWidth + 1) * dot
  const plate = { x, y, width: text.length * step + dot, height: (letterHeight + 2) * dot }
  fillBox(canvas, plate, background)
  for (const [place, letter] of [...text].entries()) {
    for (let i = 0; i < letterWidth * letterHeight; i++) {
      const [across, down] = [i % letterWidth, Math.floor(i / letterWidth)]
      if (!hasDot(letter, across, down)) continue
      const left = x + dot + place * step + across * dot
      fillBox(canvas, { x: left, y: y + dot + down * dot, width: dot, height: dot }, ink)
    }
  }
}

const patternSide = 5
/** Of the pattern's five columns two are those on the left, mirrored. */
const patternColumns = 3

/** Below: the mark, how many images it stands for, and a bar as long as it is like them. */
function drawSource(canvas: Canvas, { count, mark, fidelity }: ImageSource, dot: number): void {
  const cell = 3 * dot
  const side = (patternSide + 1) * cell
  const x = 2 * dot
  const y = Math.max(0, canvas.height - side - 4 * dot)
  fillBox(canvas, { x, y, width: side, height: side }, background)
  const bits = Number.parseInt(mark, 16)
  for (let i = 0; i < patternSide * patternColumns; i++) {
    if (((bits >> i) & 1) === 0) continue
    const [column, row] = [i % patternColumns, Math.floor(i / patternColumns)]
    for (const across of [column, patternSide - 1 - column]) {
      const corner = { x: x + cell / 2 + across * cell, y: y + cell / 2 + row * cell }
      const place = { x: Math.floor(corner.x), y: Math.floor(corner.y) }
      fillBox(canvas, { ...place, width: cell, height: cell }, sourceInk)
    }
  }
  const beside = x + side + dot
  write(canvas, `${count}x ${fidelity}%`, beside, y, dot)
  const room = Math.max(0, canvas.width - beside - 2 * dot)
  const bar = { x: beside, y: y + 11 * dot, width: room, height: 4 * dot }
  fillBox(canvas, bar, background)
  fillBox(canvas, { ...bar, width: Math.round((room * fidelity) / 100) }, sourceInk)
}

/** The bits that the pattern leaves, and some of its own, in a dark tone. */
function markColour(mark: string): Rgb {
  const [red = 0, green = 0, blue = 0] = Buffer.from(mark, 'hex')
  return [red % 200, green % 200, blue % 200]
}
