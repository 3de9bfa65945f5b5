// The address of a film: its name says all that is needed to make it, so nothing is stored, and a
// signature with an end of validity keeps it to those it was given to, as object stores do.
//   /media/3f9c2a71b0-1280x720-5s.mp4?Expires=1794800000&Signature=…
import type { Film } from './film.ts'

export const mediaPath = '/media/'
export const mostFilmSeconds = 60
const mostSide = 4096

const namePattern = /^([0-9a-f]{10,16})-(\d{2,4})x(\d{2,4})-(\d{1,2})s\.mp4$/

/** Not a secret: whoever reads this may as well look at every film. Every sandbox has the same. */
const salt = 'sandbox media'

/** Ids carry it, so it is short. */
export const seedBytes = 5

export const seedOf = (...parts: readonly unknown[]): string =>
  sha256(JSON.stringify(parts)).slice(0, 2 * seedBytes)

export function mediaAddress(origin: string, film: Film, expiresSeconds: number): string {
  const name = `${film.seed}-${film.width}x${film.height}-${film.seconds}s.mp4`
  const query = `Expires=${expiresSeconds}&Signature=${signatureOf(name, `${expiresSeconds}`)}`
  return `${origin}${mediaPath}${name}?${query}`
}

export type Found = { kind: 'film'; film: Film } | { kind: 'denied' | 'expired' | 'unknown' }

export function readMediaAddress(url: URL, nowMs: number): Found {
  const name = url.pathname.slice(mediaPath.length)
  const film = filmNamed(name)
  if (film === undefined) return { kind: 'unknown' }
  const expires = url.searchParams.get('Expires') ?? ''
  if (url.searchParams.get('Signature') !== signatureOf(name, expires)) return { kind: 'denied' }
  return nowMs >= Number(expires) * 1000 ? { kind: 'expired' } : { kind: 'film', film }
}

function filmNamed(name: string): Film | undefined {
  const [, seed, ...numbers] = namePattern.exec(name) ?? []
  const [width = 0, height = 0, seconds = 0] = numbers.map(Number)
  const sides = [width, height]
  if (seed === undefined || sides.some((side) => side % 2 !== 0 || side < 16 || side > mostSide)) {
    return undefined
  }
  if (seconds < 1 || seconds > mostFilmSeconds) return undefined
  return { seed, width, height, seconds }
}

const signatureOf = (name: string, expires: string): string =>
  sha256(`${salt}\n${name}\n${expires}`).slice(0, 32)

const sha256 = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')
