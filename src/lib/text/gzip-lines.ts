// Lines of text as a gzip stream and back, one bounded chunk at a time. Chunks are compressed one
// by one on the runtime's own threads, and concatenated chunks are one gzip file.
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'

const pack = promisify(gzip)

export function gzipOf(chunks: AsyncIterator<string>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await chunks.next()
      if (chunk.done) controller.close()
      else controller.enqueue(await pack(chunk.value))
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}

/** Maximum line length. */
const maxLine = 64 * 1024 * 1024

/** Without line ends. Throws when the bytes are not gzip or are truncated. */
export async function* gunzipLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of gunzipped(bytes)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    if (rest.length > maxLine) throw new Error('a line is too long')
    yield* lines
  }
  if (rest !== '') yield rest
}

async function* gunzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  const feed = async () => {
    try {
      for await (const chunk of bytes) {
        if (!gunzip.write(chunk)) await new Promise((go) => gunzip.once('drain', go))
      }
      gunzip.end()
    } catch (error) {
      gunzip.destroy(error as Error)
    }
  }
  void feed()
  yield* gunzip
}
