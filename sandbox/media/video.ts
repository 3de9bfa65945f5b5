// A video of a given size and length: one colour, chosen by a seed, that grows a little lighter
// each second. Same video, same bytes.
import {
  type Colour,
  flatFrame,
  frameNumbers,
  frameSizeOf,
  imageParameterSet,
  levelOf,
  repeatFrame,
  sequenceParameterSet,
} from './h264.ts'
import { mp4Of } from './mp4.ts'

export interface Video {
  /** Even, as is the height. */
  width: number
  height: number
  seconds: number
  /** At least six hexadecimal digits; they decide the colour. */
  seed: string
}

const framesPerSecond = 24
const lighterPerSecond = 4
/** After which it starts again, so that no video gets too bright. */
const shades = 8

export function makeVideo({ width, height, seconds, seed }: Video): Uint8Array<ArrayBuffer> {
  const size = frameSizeOf(width, height)
  const repeats = Array.from({ length: framesPerSecond - 1 }, (_, i) =>
    repeatFrame(size, (i + 1) % frameNumbers),
  )
  const frames: Uint8Array[] = []
  const keyFrames: number[] = []
  for (let second = 0; second < seconds; second++) {
    keyFrames.push(frames.length + 1)
    frames.push(flatFrame(size, colourOf(seed, second), second % 2), ...repeats)
  }
  return mp4Of({
    width,
    height,
    level: levelOf(size),
    sequenceParameterSet: sequenceParameterSet(size),
    imageParameterSet: imageParameterSet(),
    frames,
    keyFrames,
    framesPerSecond,
  })
}

export function colourOf(seed: string, second: number): Colour {
  const [luma = 0, blue = 0, red = 0] = Buffer.from(seed, 'hex')
  const lighter = (second % shades) * lighterPerSecond
  return { luma: 60 + (luma % 120) + lighter, blue: 64 + (blue % 128), red: 64 + (red % 128) }
}
