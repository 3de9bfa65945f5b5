// Image type of some bytes, by their signature. Declared types do not count.

/** WebP has its size before its name. */
const beginnings: readonly [type: string, pattern: RegExp][] = [
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/gif', /^GIF8[79]a/],
]

/** Undefined when it is none of these. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const opening = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  return beginnings.find(([, pattern]) => pattern.test(opening))?.[0]
}
