// The body of a table that may be large: read as text bit by bit, bounded in size and in the time
// between two bits, in whatever alphabet its sender says.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'

const maxBytes = 256 * 1024 * 1024
const idleTimeoutMs = 60_000
const types = ['text/csv', 'application/csv', 'text/plain', 'application/octet-stream']

/** Thrown while reading: the table is incomplete. */
export class BrokenTable extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

export function readChunks({ request }: RequestContext): AsyncGenerator<string> | Refusal {
  const { headers, body } = request
  const type = headers.get('content-type') ?? 'text/csv'
  const [essence = '', ...parameters] = type.split(';').map((part) => part.trim())
  if (!types.includes(essence.toLowerCase())) {
    return refuse('unsupported_media_type', `send the statement as text/csv, not ${essence}`)
  }
  if (headers.get('content-encoding') !== null) {
    return refuse('unsupported_media_type', 'send the statement without a content-encoding')
  }
  if (Number(headers.get('content-length') ?? 0) > maxBytes) return tooLarge
  const decoder = decoderFor(parameters)
  if (decoder instanceof Refusal) return decoder
  return textsOf(body, decoder)
}

const tooLarge = refuse('request_too_large', `a statement has at most ${maxBytes} bytes`)

function decoderFor(parameters: readonly string[]): TextDecoder | Refusal {
  const [, charset = 'utf-8'] =
    parameters.map((part) => /^charset="?([^"]+)"?$/i.exec(part)).find((found) => found) ?? []
  try {
    // The mark for UTF-8 is the reader's to skip.
    return new TextDecoder(charset as Bun.Encoding, { fatal: true, ignoreBOM: true })
  } catch {
    return refuse('unsupported_media_type', `the charset ${charset} is not known`)
  }
}

async function* textsOf(
  body: ReadableStream<Uint8Array> | null,
  decoder: TextDecoder,
): AsyncGenerator<string> {
  if (body === null) return
  const reader = body.getReader()
  let size = 0
  try {
    for (;;) {
      const { done, value } = await within(reader.read())
      if (done) break
      size += value.byteLength
      if (size > maxBytes) throw new BrokenTable(tooLarge)
      yield decoder.decode(value, { stream: true })
    }
    yield decoder.decode()
  } catch (cause) {
    if (cause instanceof BrokenTable) throw cause
    const message =
      cause instanceof TypeError
        ? `the statement is not ${decoder.encoding}; name its charset`
        : 'the statement did not arrive completely'
    throw new BrokenTable(refuse('invalid_request', message, { cause }))
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function within<T>(work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('too slow')), idleTimeoutMs)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
