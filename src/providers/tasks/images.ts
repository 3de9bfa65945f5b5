// Images in JSON: by URL, or as Base64 bytes.
import type { OutputMedia } from '../../contract/task.ts'
import { plainBase64 } from '../../lib/base64.ts'
import { plainBase64After } from '../../lib/json/json-thread.ts'
import { isAddress } from './fields.ts'

/** First bytes of image files, in Base64. */
const openings: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
  ['R0lGOD', 'image/gif'],
]
const dataUri = /^data:([^,;]{0,100})(?:;[^,;]{0,100}){0,4};base64,/i
const plainType = /^image\/[a-z\d.+-]{1,64}$/i

const typeOf = (bytes: string): string =>
  openings.find(([opening]) => bytes.startsWith(opening))?.[1] ?? 'image/png'

/** The Base64 bytes of a data URI and their type; undefined when it is none. */
export function inlineBytes(url: string): { type: string; bytes: string } | undefined {
  const match = dataUri.exec(url)
  if (match === null) return undefined
  const bytes = url.slice(match[0].length)
  if (plainBase64(bytes) !== bytes) return undefined
  const given = match[1]!.toLowerCase()
  return { type: plainType.test(given) ? given : typeOf(bytes), bytes }
}

/** A result image by URL; undefined when the URL is unusable. */
export const imageAt = (url: string): OutputMedia | undefined =>
  isAddress(url) || inlineBytes(url) !== undefined ? { kind: 'image', url } : undefined

/** A result image in Base64, with or without a media type. */
export async function imageOf(
  given: string,
  queueKey: string | undefined,
): Promise<OutputMedia | undefined> {
  const [named] = dataUri.exec(given) ?? []
  if (named === undefined && given.startsWith('data:')) return undefined
  const type = typeOf(given.slice(0, typedLetters).replaceAll(/\s+/g, ''))
  const before = named ?? `data:${type};base64,`
  const url = await plainBase64After(before, given, named?.length, queueKey)
  return url === undefined ? undefined : { kind: 'image', url }
}

/** Enough for the first bytes, also with some white space. */
const typedLetters = 64
