// How many seconds of sound a file has. What is counted is what a decoder would play, never what a header claims:
// frames, packets and samples, so that no file gets shorter by saying so. Undefined: no format that is known
// here, or a part of the file is not of its format.
import { flacSeconds } from './flac.ts'
import { aacSeconds, mp3Seconds } from './frames.ts'
import { matroskaSeconds } from './matroska.ts'
import { mp4Seconds } from './mp4.ts'
import { oggSeconds } from './ogg.ts'
import { wavSeconds } from './wav.ts'

type AudioFormat = 'wav' | 'mp3' | 'flac' | 'ogg' | 'mp4' | 'webm' | 'aac'

const readers: Readonly<Record<AudioFormat, (bytes: Buffer) => number | undefined>> = {
  wav: wavSeconds,
  flac: flacSeconds,
  ogg: oggSeconds,
  webm: matroskaSeconds,
  mp4: mp4Seconds,
  aac: aacSeconds,
  mp3: mp3Seconds,
}

/** By its first bytes; undefined: none that is known. */
export function audioFormat(file: Uint8Array): AudioFormat | undefined {
  const bytes = asBuffer(file)
  const head = bytes.toString('latin1', 0, 12)
  if (/^(?:RIFF|RF64|BW64).{4}WAVE/s.test(head)) return 'wav'
  if (head.startsWith('fLaC')) return 'flac'
  if (head.startsWith('OggS')) return 'ogg'
  if (head.startsWith('\x1aE\xdf\xa3')) return 'webm'
  if (head.slice(4, 8) === 'ftyp') return 'mp4'
  if (head.startsWith('ID3')) return 'mp3'
  if (bytes[0] !== 0xff) return undefined
  if ((bytes[1]! & 0xf6) === 0xf0) return 'aac'
  return (bytes[1]! & 0xe0) === 0xe0 ? 'mp3' : undefined
}

export function audioSeconds(file: Uint8Array): number | undefined {
  const format = audioFormat(file)
  if (format === undefined) return undefined
  const seconds = readers[format](asBuffer(file))
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined
}

const asBuffer = (file: Uint8Array): Buffer =>
  Buffer.from(file.buffer, file.byteOffset, file.byteLength)
