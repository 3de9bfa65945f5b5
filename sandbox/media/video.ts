// A film of a given size and length: one colour, chosen by a seed, that grows a little lighter
// each second. Same film, same bytes.
import {
  type Colour,
  flatPicture,
  frameNumbers,
  frameOf,
  levelOf,
  pictureSet,
  samePicture,
  sequenceSet,
} from './h264.ts'
import { mp4Of } from './mp4.ts'

export interface Film {
  /** Even, as is the height. */
  width: number
  height: number
  seconds: number
  /** At least six hexadecimal digits; they decide the colour. */
  seed: string
}

const picturesPerSecond = 24
const lighterPerSecond = 4
/** After which it starts again, so that no film gets too bright. */
const shades = 8

export function makeFilm({ width, height, seconds, seed }: Film): Uint8Array<ArrayBuffer> {
  const frame = frameOf(width, height)
  const repeats = Array.from({ length: picturesPerSecond - 1 }, (_, i) =>
    samePicture(frame, (i + 1) % frameNumbers),
  )
  const pictures: Uint8Array[] = []
  const keyPictures: number[] = []
  for (let second = 0; second < seconds; second++) {
    keyPictures.push(pictures.length + 1)
    pictures.push(flatPicture(frame, colourOf(seed, second), second % 2), ...repeats)
  }
  return mp4Of({
    width,
    height,
    level: levelOf(frame),
    sequenceSet: sequenceSet(frame),
    pictureSet: pictureSet(),
    pictures,
    keyPictures,
    picturesPerSecond,
  })
}

export function colourOf(seed: string, second: number): Colour {
  const [luma = 0, blue = 0, red = 0] = Buffer.from(seed, 'hex')
  const lighter = (second % shades) * lighterPerSecond
  return { luma: 60 + (luma % 120) + lighter, blue: 64 + (blue % 128), red: 64 + (red % 128) }
}
