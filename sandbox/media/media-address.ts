// The address of a video or an image: the name holds everything needed to make the file, so nothing is
// stored. Like in object stores, a signature with an expiry time protects it.
//   /media/3f9c2a71b0-1280x720-5s.mp4?Expires=1794800000&Signature=…
//   /media/3f9c2a71b0-0-1024x1024.png?…   from two images: …-1024x1024-2i1a2b3cf50.png

import type { Image } from './image.ts'
import type { Video } from './video.ts'

export const mediaPath = '/media/'
const maxVideoSeconds = 60
const maxSide = 4096
export const maxImageSide = 8192
/** An image of this size is made quickly and in little memory. */
export const maxImagePoints = 4096 * 4352
const maxFidelity = 100

const videoPattern = /^([0-9a-f]{10,16})-(\d{2,4})x(\d{2,4})-(\d{1,2})s\.mp4$/
const imagePattern =
  /^([0-9a-f]{10,16})-(\d{1,2})-(\d{2,4})x(\d{2,4})(?:-(\d{1,2})i([0-9a-f]{6})f(\d{1,3}))?\.png$/

/** Not a secret, and the same in every sandbox. */
const salt = 'sandbox media'

/** Ids carry it, so it is short. */
export const seedBytes = 5

export const seedOf = (...parts: readonly unknown[]): string =>
  sha256(JSON.stringify(parts)).slice(0, 2 * seedBytes)

export function mediaAddress(origin: string, video: Video, expiresSeconds: number): string {
  return signed(origin, `${video.seed}-${sizeName(video)}-${video.seconds}s.mp4`, expiresSeconds)
}

export function imageAddress(origin: string, image: Image, expiresSeconds: number): string {
  const { seed, index, source } = image
  const from = source && `-${source.count}i${source.mark}f${source.fidelity}`
  return signed(origin, `${seed}-${index}-${sizeName(image)}${from ?? ''}.png`, expiresSeconds)
}

const sizeName = ({ width, height }: { width: number; height: number }) => `${width}x${height}`

function signed(origin: string, name: string, expiresSeconds: number): string {
  const query = `Expires=${expiresSeconds}&Signature=${signatureOf(name, `${expiresSeconds}`)}`
  return `${origin}${mediaPath}${name}?${query}`
}

export type Medium = { kind: 'video'; video: Video } | { kind: 'image'; image: Image }
export type Found = Medium | { kind: 'denied' | 'expired' | 'unknown' }

export function readMediaAddress(url: URL, nowMs: number): Found {
  const name = url.pathname.slice(mediaPath.length)
  const medium = videoNamed(name) ?? imageNamed(name)
  if (medium === undefined) return { kind: 'unknown' }
  const expires = url.searchParams.get('Expires') ?? ''
  if (url.searchParams.get('Signature') !== signatureOf(name, expires)) return { kind: 'denied' }
  return nowMs >= Number(expires) * 1000 ? { kind: 'expired' } : medium
}

function videoNamed(name: string): Medium | undefined {
  const [, seed, ...numbers] = videoPattern.exec(name) ?? []
  const [width = 0, height = 0, seconds = 0] = numbers.map(Number)
  const sides = [width, height]
  if (seed === undefined || sides.some((side) => side % 2 !== 0 || side < 16 || side > maxSide)) {
    return undefined
  }
  if (seconds < 1 || seconds > maxVideoSeconds) return undefined
  return { kind: 'video', video: { seed, width, height, seconds } }
}

function imageNamed(name: string): Medium | undefined {
  const [, seed, index, across, down, count, mark, share] = imagePattern.exec(name) ?? []
  const [width, height] = [Number(across), Number(down)]
  if (seed === undefined || Math.max(width, height) > maxImageSide) return undefined
  const fidelity = Number(share ?? 0)
  if (width * height > maxImagePoints || fidelity > maxFidelity) return undefined
  const source = mark === undefined ? {} : { source: { count: Number(count), mark, fidelity } }
  return { kind: 'image', image: { seed, index: Number(index), width, height, ...source } }
}

const signatureOf = (name: string, expires: string): string =>
  sha256(`${salt}\n${name}\n${expires}`).slice(0, 32)

export const sha256 = (text: string): string =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex')
