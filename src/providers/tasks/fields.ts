// Reads single values from answers, for all task upstreams.

/** Longer than any video, and shorter than a count of milliseconds. */
export const maxSeconds = 600
/** As seconds since 1970: a moment in 2001, and one in 2286. */
const epochSeconds = { min: 1e9, max: 1e10 }

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export const isAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url)

/** Printable, and not only dots, which would change the path of a URL. */
export const isPlainId = (id: string): boolean => /^(?!\.+$)[\x21-\x7e]{1,200}$/.test(id)

export const isEpochSeconds = (value: unknown): value is number =>
  typeof value === 'number' && value >= epochSeconds.min && value <= epochSeconds.max

/** The body with what its channel sets and leaves out. */
export function editedFields<Body>(
  body: Body,
  edits: Readonly<Record<string, string>> | undefined,
): Body {
  if (edits === undefined) return body
  const edited: Record<string, unknown> = { ...(body as object) }
  for (const [name, value] of Object.entries(edits)) {
    if (value === '') delete edited[name]
    else edited[name] = JSON.parse(value)
  }
  return edited as Body
}
