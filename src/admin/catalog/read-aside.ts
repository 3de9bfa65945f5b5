// Reads a text that is imported in a thread of its own, so that its size and shape delay no other work:
// bounded in length, parts and time, one at a time, and all its memory is given back afterwards.
import { type Refusal, refuse } from '../../contract/errors.ts'
import { assets } from '../../lib/assets.ts'
import { FairSemaphore } from '../../lib/fair-semaphore.ts'
import type { ImportKind, ReadAs } from './import-readers.ts'

/** YAML takes hundreds of times its length in memory; a table or JSON does not. */
const yamlKinds: ReadonlySet<ImportKind> = new Set(['channels', 'costs', 'yaml'])
const maxYamlLength = 1024 * 1024
/** About as many keys, values and items may be in it; more is no list that a person has written. */
const maxYamlParts = 150_000
const maxMs = 20_000

const oneAtATime = new FairSemaphore({ concurrency: 1, queue: 8, queuePerKey: 8 })

/** `param`: the field that holds the text. */
export async function readAside<K extends ImportKind>(
  kind: K,
  text: string,
  param: string,
): Promise<ReadAs<K> | Refusal> {
  if (yamlKinds.has(kind)) {
    if (text.length > maxYamlLength) {
      const message = `a YAML text has at most ${maxYamlLength} characters`
      return refuse('request_too_large', message, { param })
    }
    if (partsOf(text) > maxYamlParts) return tooComplex(param)
  }
  const read = await oneAtATime.run('', () => readInThread(kind, text))
  if (read === undefined) {
    return refuse('overloaded', 'other imports are being read', { retryAfterSeconds: 5 })
  }
  return read === 'stopped' ? tooComplex(param) : read
}

const tooComplex = (param: string): Refusal =>
  refuse('invalid_request', 'the text is too complex; import it in parts', { param })

/** Marks that begin a part in YAML: an upper bound that is found in one pass. */
function partsOf(text: string): number {
  let parts = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // A line end, a comma, a colon, and brackets of both kinds.
    if (code === 10 || code === 44 || code === 58 || code === 91 || code === 123) parts++
  }
  return parts
}

/** `stopped`: it took too long, or more than the thread can hold. */
async function readInThread<K extends ImportKind>(
  kind: K,
  text: string,
): Promise<ReadAs<K> | 'stopped'> {
  const worker = new Worker(assets.importThread, { smol: true })
  const { promise, resolve } = Promise.withResolvers<ReadAs<K> | 'stopped'>()
  const timer = setTimeout(() => resolve('stopped'), maxMs)
  worker.onmessage = ({ data }: MessageEvent<ReadAs<K>>) => resolve(data)
  worker.onerror = () => resolve('stopped')
  worker.addEventListener('close', () => resolve('stopped'))
  worker.postMessage({ kind, text })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    worker.terminate()
  }
}
