// The [[sim:...]] directives: where they are found and what their values may be. What each one does
// is decided elsewhere. A directive with a value that makes no sense is plain text.
//   [[sim:delay=2s]] -> delayMs 2000   [[sim:delay=300ms]] -> delayMs 300   [[sim:fail]] -> fail ''

export interface Directives {
  delayMs: number
  chunkMs: number
  outputTokens?: number
  status?: number
  /** The reason given, or the empty string. */
  fail?: string
  cutAfterChunks?: number
  errorAfterChunks?: number
  /** The empty string asks for the usual amount. */
  reasoningTokens?: number | ''
  /** The name of the function, or the empty string for the first one. */
  tool?: string
  /** So many functions are called in one answer. */
  calls?: number
  /** Their arguments alternate in a stream, where the protocol can say so. */
  interleaved: boolean
  /** What makers refuse is refused, also where the sandbox could answer. */
  strict: boolean
  /** The text names a source. */
  cite: boolean
  /** A text comes before the calls. */
  preamble: boolean
  /** Reasoning comes without its text. */
  redacted: boolean
  /** Reasoning of earlier calls must come back. */
  replay: boolean
  /** The answer is a refusal; `prompt`: the question is refused. */
  refusal?: string
  /** Why the answer ended: `none` leaves it open, `filtered` is the protocol's own word. */
  finish?: string
  /** A stream ends without its last mark. */
  noDone: boolean
  /** A sign of life before every so many events. */
  keepAliveEvents?: number
  /** Where a stream tells its usage, if not where it usually does. */
  usage?: 'first' | 'every' | 'last'
  /** The service tier and the place that the answer names. */
  tier?: string
  geo?: string
  /** So many tokens of the input and the output are sound, or images. */
  audioTokens?: number
  imageTokens?: number
  outputAudioTokens?: number
  outputImageTokens?: number
  /** A pass over so much input before the answer, where the protocol tells of passes. */
  compactedTokens?: number
  /** Another model reads the input first, likewise. */
  advisor?: string
  hang: boolean
  noUsage: boolean
  leak: boolean
  /** So many images come, however many were asked for; never more. */
  images?: number
  /** Success without an image. */
  noOutput: boolean
  flip: boolean
  vanish: boolean
  /** What goes wrong with the first questions about a task: a status, or the name of a directive. */
  poll?: number | 'hang' | 'leak'
}

const maxPauseMs = 600_000
const maxTokens = 100_000
const maxChunks = 1_000_000
const maxImages = 100
const maxCalls = 32

const pattern = /\[\[sim:([a-z-]+)(?:=([\w.-]*))?\]\]/g

/** Reads every text of a request; the last directive of a kind wins. */
export function readDirectives(fields: Readonly<Record<string, unknown>>): Directives {
  const found: Directives = {
    delayMs: 0,
    chunkMs: 0,
    interleaved: false,
    strict: false,
    cite: false,
    preamble: false,
    redacted: false,
    replay: false,
    noDone: false,
    hang: false,
    noUsage: false,
    leak: false,
    noOutput: false,
    flip: false,
    vanish: false,
  }
  // Written out again, escapes a client may have used are gone and the order is the document's.
  const text = JSON.stringify(fields)
  if (!text.includes('[[sim:')) return found
  for (const [, kind = '', value] of text.matchAll(pattern)) {
    Object.assign(found, readers.get(kind)?.(value))
  }
  return found
}

type Reader = (value: string | undefined) => Partial<Directives> | undefined

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['delay', duration('delayMs')],
  ['chunk', duration('chunkMs')],
  ['tokens', whole('outputTokens', 0, maxTokens)],
  ['status', whole('status', 300, 599)],
  ['cut', whole('cutAfterChunks', 0, maxChunks)],
  ['error-after', whole('errorAfterChunks', 0, maxChunks)],
  ['reasoning', (value) => (value === undefined ? { reasoningTokens: '' } : reasoning(value))],
  ['tool', (value) => ({ tool: value ?? '' })],
  ['calls', whole('calls', 1, maxCalls)],
  ['interleaved', () => ({ interleaved: true })],
  ['strict', () => ({ strict: true })],
  ['cite', () => ({ cite: true })],
  ['preamble', () => ({ preamble: true })],
  ['redacted', () => ({ redacted: true })],
  ['replay', () => ({ replay: true })],
  ['refusal', (value) => ({ refusal: value ?? '' })],
  ['finish', (value) => (value ? { finish: value } : undefined)],
  ['no-done', () => ({ noDone: true })],
  ['keep-alive', (value) => (value === undefined ? { keepAliveEvents: 1 } : keepAlive(value))],
  ['usage', (value) => (isUsagePlace(value) ? { usage: value } : undefined)],
  ['tier', (value) => (value ? { tier: value } : undefined)],
  ['geo', (value) => (value ? { geo: value } : undefined)],
  ['audio-tokens', whole('audioTokens', 0, maxTokens)],
  ['image-tokens', whole('imageTokens', 0, maxTokens)],
  ['output-audio-tokens', whole('outputAudioTokens', 0, maxTokens)],
  ['output-image-tokens', whole('outputImageTokens', 0, maxTokens)],
  ['compaction', whole('compactedTokens', 1, maxTokens)],
  ['advisor', (value) => (value ? { advisor: value } : undefined)],
  ['images', whole('images', 0, maxImages)],
  ['partial', whole('images', 0, maxImages)],
  ['no-output', () => ({ noOutput: true })],
  ['fail', (value) => ({ fail: value ?? '' })],
  ['hang', () => ({ hang: true })],
  ['no-usage', () => ({ noUsage: true })],
  ['leak', () => ({ leak: true })],
  ['flip', () => ({ flip: true })],
  ['vanish', () => ({ vanish: true })],
  ['poll', (value) => (value === 'hang' || value === 'leak' ? { poll: value } : pollStatus(value))],
])

const pollStatus = whole('poll', 300, 599)
const reasoning = whole('reasoningTokens', 0, maxTokens)
const keepAlive = whole('keepAliveEvents', 1, maxChunks)

const isUsagePlace = (value: string | undefined): value is NonNullable<Directives['usage']> =>
  value === 'first' || value === 'every' || value === 'last'

function whole(name: keyof Directives, min: number, max: number): Reader {
  return (value = '') => {
    const number = Number(value)
    const sound = /^\d{1,9}$/.test(value) && number >= min && number <= max
    return sound ? { [name]: number } : undefined
  }
}

function duration(name: keyof Directives): Reader {
  return (value = '') => {
    const parts = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s)$/.exec(value)
    if (parts === null) return undefined
    const ms = Number(parts[1]) * (parts[2] === 's' ? 1000 : 1)
    return { [name]: Math.min(ms, maxPauseMs) }
  }
}
