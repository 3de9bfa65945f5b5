// A minimal H.264 encoder: frames of one flat colour, and frames that repeat the one before.
// Constrained baseline profile, one slice per frame. A stored template would not do: a video may have
// any size, and the size and the number of blocks are part of the bit stream. Knows no container.
import { BitWriter } from './bit-writer.ts'

export interface Colour {
  luma: number
  blue: number
  red: number
}

/** In macroblocks of 16 x 16 samples, with what is cut off to come to the size asked for. */
interface FrameSize {
  width: number
  height: number
  columns: number
  rows: number
}

export const constrainedBaseline = { profile: 66, constraints: 0xc0 } as const

const frameNumberBits = 4
export const frameNumbers = 2 ** frameNumberBits

/** Width and height must be even. */
export const frameSizeOf = (width: number, height: number): FrameSize => ({
  width,
  height,
  columns: Math.ceil(width / 16),
  rows: Math.ceil(height / 16),
})

/** The lowest of the usual levels whose frames are that large, at up to 30 a second. */
export function levelOf({ columns, rows }: FrameSize): number {
  const size = columns * rows
  if (size <= 3600) return 31
  return size <= 8192 ? 40 : 51
}

export function sequenceParameterSet(frame: FrameSize): Uint8Array<ArrayBuffer> {
  const out = new BitWriter()
  out.bits(constrainedBaseline.profile, 8)
  out.bits(constrainedBaseline.constraints, 8)
  out.bits(levelOf(frame), 8)
  out.golomb(0) // its id
  out.golomb(frameNumberBits - 4)
  out.golomb(2) // frames are shown in the order they come
  out.golomb(1) // reference frames
  out.bits(0, 1) // no gaps in frame numbers
  out.golomb(frame.columns - 1)
  out.golomb(frame.rows - 1)
  out.bits(0b11, 2) // whole frames only; inference for 8 x 8 blocks, which must be on
  writeCropping(out, frame)
  out.bits(0, 1) // no usability information
  return unit(3, 7, out.end())
}

/** Counted in pairs of samples, since colour has half the resolution. */
function writeCropping(out: BitWriter, { width, height, columns, rows }: FrameSize): void {
  const right = (columns * 16 - width) / 2
  const bottom = (rows * 16 - height) / 2
  out.bits(right + bottom > 0 ? 1 : 0, 1)
  if (right + bottom === 0) return
  for (const pairs of [0, right, 0, bottom]) out.golomb(pairs)
}

export function imageParameterSet(): Uint8Array<ArrayBuffer> {
  const out = new BitWriter()
  out.golomb(0) // its id
  out.golomb(0) // of that sequence
  out.bits(0, 1) // variable length codes
  out.bits(0, 1) // no order in the slices
  out.golomb(0) // one slice group
  out.golomb(0) // one reference, list 0
  out.golomb(0) // one reference, list 1
  out.bits(0, 3) // no weights
  out.golomb(0) // quantizer as usual
  out.golomb(0)
  out.golomb(0)
  out.bits(1, 1) // slices say whether edges are smoothed
  out.bits(0, 2)
  return unit(3, 8, out.end())
}

/**
 * The first macroblock has its samples in the open. Every other one is predicted from the mean of
 * its neighbours and has nothing to add, so the colour spreads exactly.
 */
export function flatFrame(frame: FrameSize, colour: Colour, idrId: number) {
  const out = new BitWriter()
  writeSliceStart(out, 7, 0)
  out.golomb(idrId)
  out.bits(0, 2) // other frames may be forgotten; this one is no long-term reference
  writeSliceEnd(out)
  out.golomb(25) // plain samples
  out.align()
  for (let i = 0; i < 256; i++) out.bits(colour.luma, 8)
  for (let i = 0; i < 64; i++) out.bits(colour.blue, 8)
  for (let i = 0; i < 64; i++) out.bits(colour.red, 8)
  for (let at = 1; at < frame.columns * frame.rows; at++) {
    out.golomb(3) // 16 x 16, from the mean
    out.golomb(0) // colour from the mean
    out.golomb(0) // same quantizer
    // "No coefficients" is longer beside plain samples, which count as full of coefficients.
    if (at === 1 || at === frame.columns) out.bits(0b000011, 6)
    else out.bits(1, 1)
  }
  return unit(3, 5, out.end())
}

/** The frame before, once more. */
export function repeatFrame(frame: FrameSize, frameNumber: number): Uint8Array<ArrayBuffer> {
  const out = new BitWriter()
  writeSliceStart(out, 5, frameNumber)
  out.bits(0, 2) // references as usual, in the usual order
  out.bits(0, 1) // the oldest reference goes
  writeSliceEnd(out)
  out.golomb(frame.columns * frame.rows) // so many macroblocks are skipped
  return unit(2, 1, out.end())
}

function writeSliceStart(out: BitWriter, kind: number, frameNumber: number): void {
  out.golomb(0) // from the first macroblock
  out.golomb(kind)
  out.golomb(0) // frame set
  out.bits(frameNumber, frameNumberBits)
}

function writeSliceEnd(out: BitWriter): void {
  out.golomb(0) // quantizer as usual
  out.golomb(1) // edges are not smoothed
}

/** Two zeros and a small byte would look like a start code: a three goes between. */
export function unit(importance: number, kind: number, payload: readonly number[]) {
  const bytes = [(importance << 5) | kind]
  let zeros = 0
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      bytes.push(3)
      zeros = 0
    }
    bytes.push(byte)
    zeros = byte === 0 ? zeros + 1 : 0
  }
  return Uint8Array.from(bytes)
}
