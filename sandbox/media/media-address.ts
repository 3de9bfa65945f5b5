// The address of a film or a picture: its name says all that is needed to make it, so nothing is
// stored, and a signature with an end of validity keeps it to those it was given to, as object
// stores do.
//   /media/3f9c2a71b0-1280x720-5s.mp4?Expires=1794800000&Signature=…
//   /media/3f9c2a71b0-0-1024x1024.png?…   made from two pictures: …-1024x1024-2i1a2b3cf50.png

import type { Picture } from './image.ts'
import type { Film } from './video.ts'

export const mediaPath = '/media/'
export const mostFilmSeconds = 60
const mostSide = 4096
export const mostPictureSide = 8192
/** A picture of that many is made in the time of a blink, and in little room. */
export const mostPicturePoints = 4096 * 4352
export const mostFidelity = 100

const filmPattern = /^([0-9a-f]{10,16})-(\d{2,4})x(\d{2,4})-(\d{1,2})s\.mp4$/
const picturePattern =
  /^([0-9a-f]{10,16})-(\d{1,2})-(\d{2,4})x(\d{2,4})(?:-(\d{1,2})i([0-9a-f]{6})f(\d{1,3}))?\.png$/

/** Not a secret: whoever reads this may as well look at every film. Every sandbox has the same. */
const salt = 'sandbox media'

/** Ids carry it, so it is short. */
export const seedBytes = 5

export const seedOf = (...parts: readonly unknown[]): string =>
  sha256(JSON.stringify(parts)).slice(0, 2 * seedBytes)

export function mediaAddress(origin: string, film: Film, expiresSeconds: number): string {
  return signed(origin, `${film.seed}-${sizeName(film)}-${film.seconds}s.mp4`, expiresSeconds)
}

export function pictureAddress(origin: string, picture: Picture, expiresSeconds: number): string {
  const { seed, index, source } = picture
  const from = source && `-${source.count}i${source.mark}f${source.fidelity}`
  return signed(origin, `${seed}-${index}-${sizeName(picture)}${from ?? ''}.png`, expiresSeconds)
}

const sizeName = ({ width, height }: { width: number; height: number }) => `${width}x${height}`

function signed(origin: string, name: string, expiresSeconds: number): string {
  const query = `Expires=${expiresSeconds}&Signature=${signatureOf(name, `${expiresSeconds}`)}`
  return `${origin}${mediaPath}${name}?${query}`
}

export type Medium = { kind: 'film'; film: Film } | { kind: 'picture'; picture: Picture }
export type Found = Medium | { kind: 'denied' | 'expired' | 'unknown' }

export function readMediaAddress(url: URL, nowMs: number): Found {
  const name = url.pathname.slice(mediaPath.length)
  const medium = filmNamed(name) ?? pictureNamed(name)
  if (medium === undefined) return { kind: 'unknown' }
  const expires = url.searchParams.get('Expires') ?? ''
  if (url.searchParams.get('Signature') !== signatureOf(name, expires)) return { kind: 'denied' }
  return nowMs >= Number(expires) * 1000 ? { kind: 'expired' } : medium
}

function filmNamed(name: string): Medium | undefined {
  const [, seed, ...numbers] = filmPattern.exec(name) ?? []
  const [width = 0, height = 0, seconds = 0] = numbers.map(Number)
  const sides = [width, height]
  if (seed === undefined || sides.some((side) => side % 2 !== 0 || side < 16 || side > mostSide)) {
    return undefined
  }
  if (seconds < 1 || seconds > mostFilmSeconds) return undefined
  return { kind: 'film', film: { seed, width, height, seconds } }
}

function pictureNamed(name: string): Medium | undefined {
  const [, seed, index, across, down, count, mark, share] = picturePattern.exec(name) ?? []
  const [width, height] = [Number(across), Number(down)]
  if (seed === undefined || Math.max(width, height) > mostPictureSide) return undefined
  const fidelity = Number(share ?? 0)
  if (width * height > mostPicturePoints || fidelity > mostFidelity) return undefined
  const source = mark === undefined ? {} : { source: { count: Number(count), mark, fidelity } }
  return { kind: 'picture', picture: { seed, index: Number(index), width, height, ...source } }
}

const signatureOf = (name: string, expires: string): string =>
  sha256(`${salt}\n${name}\n${expires}`).slice(0, 32)

export const sha256 = (text: string): string =>
  new Bun.CryptoHasher('sha256').update(text).digest('hex')
