// W3C trace context: reads and writes `traceparent`, and passes on a well-formed `tracestate`.
// Malformed headers count as absent. Knows no spans.

export interface TraceParent {
  traceId: string
  /** The caller's span id. */
  parentId: string
  sampled: boolean
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const none = /^0+$/
/** Maximum length of a header that is parsed. */
const maxParent = 256
const maxState = 512
const maxMembers = 32
/** A key and a value of printable characters; surrounding spaces are trimmed. */
const member = /^[a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,256}$/

/** Undefined when no trace can be continued from it. */
export function readTraceParent(header: string): TraceParent | undefined {
  if (header.length > maxParent) return undefined
  const [, version, traceId = '', parentId = '', flags = '', more] = shape.exec(header.trim()) ?? []
  if (version === undefined || version === 'ff' || none.test(traceId) || none.test(parentId)) {
    return undefined
  }
  // Later versions may append fields; this one may not.
  if (version === '00' && more !== undefined) return undefined
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export function readTraceState(header: string | null): string | undefined {
  if (header === null || header.length > maxState) return undefined
  const members = header.split(',').map((each) => each.trim())
  const said = members.filter((each) => each !== '')
  if (said.length === 0 || said.length > maxMembers) return undefined
  return said.every((each) => member.test(each)) ? said.join(',') : undefined
}

export const writeTraceParent = (traceId: string, spanId: string, sampled: boolean): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`

export const newTraceId = (): string => randomHex(16)
export const newSpanId = (): string => randomHex(8)

/** Never all zeros, which is not a valid id. */
function randomHex(bytes: number): string {
  const hex = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
  return none.test(hex) ? randomHex(bytes) : hex
}
