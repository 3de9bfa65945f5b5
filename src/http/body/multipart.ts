// Parses the parts of a multipart form without copying its files. Accepts what SDKs and browsers send;
// anything unusual is not a form.

export interface PartHead {
  name: string
  /** Undefined for a text, else the declared type of a file. */
  type: string | undefined
  /** Of a file, as the caller named it. */
  fileName?: string | undefined
}

export interface FormPart extends PartHead {
  content: Buffer<ArrayBuffer>
}

const maxHead = 16 * 1024

/** Undefined when it is not a complete form. */
export function partsOf(
  body: Buffer<ArrayBuffer>,
  contentType: string,
  maxParts: number,
): FormPart[] | 'too_many' | undefined {
  const boundary = boundaryIn(contentType)
  if (boundary === undefined) return undefined
  const opening = Buffer.from(`--${boundary}`)
  const divider = Buffer.from(`\r\n--${boundary}`)
  const parts: FormPart[] = []
  // Text before the first boundary is ignored.
  let at = body.indexOf(opening)
  if (at === -1 || (at > 0 && body[at - 1] !== 0x0a)) return undefined
  at += opening.length
  for (;;) {
    if (body[at] === 0x2d && body[at + 1] === 0x2d) return parts
    // Blanks may follow a boundary.
    while (body[at] === 0x20 || body[at] === 0x09) at++
    if (body[at] !== 0x0d || body[at + 1] !== 0x0a) return undefined
    if (parts.length >= maxParts) return 'too_many'
    const end = body.indexOf(divider, at)
    if (end === -1) return undefined
    const part = partIn(body.subarray(at + 2, Math.max(end, at + 2)))
    if (part === undefined) return undefined
    parts.push(part)
    at = end + divider.length
  }
}

export function boundaryIn(contentType: string): string | undefined {
  const found = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType)
  return found?.[1] ?? found?.[2]
}

function partIn(part: Buffer<ArrayBuffer>): FormPart | undefined {
  const end = part.indexOf('\r\n\r\n')
  if (end === -1 || end > maxHead) return undefined
  const head = partHead(part.toString('utf8', 0, end))
  return head && { ...head, content: part.subarray(end + 4) }
}

/** Undefined when it is no part of a form. */
export function partHead(head: string): PartHead | undefined {
  const disposition = headerIn(head, 'content-disposition')
  if (disposition === undefined || !/^\s*form-data\s*(?:;|$)/i.test(disposition)) return undefined
  const name = wordIn(disposition, 'name')
  if (name === undefined) return undefined
  const isFile = /;\s*filename\*?=/i.test(disposition)
  const type = isFile ? (headerIn(head, 'content-type')?.trim() ?? '') : undefined
  return isFile ? { name, type, fileName: wordIn(disposition, 'filename') } : { name, type }
}

const headerIn = (head: string, name: string): string | undefined =>
  head
    .split('\r\n')
    .find((line) => line.slice(0, name.length + 1).toLowerCase() === `${name}:`)
    ?.slice(name.length + 1)

/** `name="a\"b"`: browsers escape the quote as %22, others with a backslash. */
function wordIn(disposition: string, word: string): string | undefined {
  const shape = new RegExp(`(?:^|;)\\s*${word}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i')
  const found = shape.exec(disposition)
  if (found === null) return undefined
  if (found[1] === undefined) return found[2]
  return found[1].replaceAll(/\\(.)/g, '$1').replaceAll('%22', '"').replaceAll('%0D%0A', '\r\n')
}
