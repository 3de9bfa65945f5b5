// Images in JSON: by URL, or as Base64 bytes.
import type { OutputMedia } from '../../contract/task.ts'
import { type Base64Part, plainBase64 } from '../../lib/base64.ts'
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

/** The type of a data URI, and where its Base64 begins, which may be none; undefined when it has none. */
export function inlineFile(url: string): (Base64Part & { type: string }) | undefined {
  const match = dataUri.exec(url)
  if (match === null) return undefined
  const from = match[0].length
  const given = match[1]!.toLowerCase()
  const type = plainType.test(given) ? given : typeOf(url.slice(from, from + typedLetters))
  return { text: url, from, type }
}

/** A result image by URL; undefined when the URL is unusable. */
export const imageAt = (url: string): OutputMedia | undefined =>
  isAddress(url) || isInline(url) ? { kind: 'image', url } : undefined

function isInline(url: string): boolean {
  const file = inlineFile(url)
  if (file === undefined) return false
  const bytes = url.slice(file.from)
  return plainBase64(bytes) === bytes
}

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
