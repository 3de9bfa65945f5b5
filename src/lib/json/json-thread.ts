// Reads and encodes long JSON texts, and measures files of sound, in a thread of their own. Tens of megabytes take tens of
// milliseconds, most of them for new memory, and that cannot be cut into turns of the event loop.
// The text itself is shared between threads, not copied. Callers take turns by `queueKey`. The thread starts with the first long text
// and ends when it has had nothing to do for a while.
import { randomUUID } from 'node:crypto'
import { assets } from '../assets.ts'
import { type Base64Part, bytesBetween, plainBase64 } from '../base64.ts'
import { copyInTurns, nextTurn } from '../turns.ts'
import { WorkerThread } from '../worker-thread.ts'
import type { LongParts, LongTemplate, ReadJson, TextResult, TextWork } from './json-worker.ts'
import { parseShortened } from './long-strings.ts'
import type { ScanProblem, WorkLimits } from './scan.ts'

/** Shorter ones take some milliseconds, in several turns; to and from a thread they would take twice that. */
export const longTextBytes = 3 * 1024 * 1024
/** What is left of a text and is longer has a turn of its own, as other work that takes milliseconds. */
const longRest = 64 * 1024
/** Longer strings of a value to encode are encoded there. */
const longValue = 64 * 1024
const thread = new WorkerThread<TextWork, TextResult>(() => assets.jsonThread, 'long texts')

type LongJson =
  | { text: string; value: unknown }
  | { text: string; problem: ScanProblem }
  | { text: string; error: string }

/**
 * The bytes are gone for the caller. What is left to parse here is bounded by `work`. `owned`: long
 * strings of the value are passed on by themselves, not the text.
 */
export async function readLong(
  bytes: Uint8Array<ArrayBuffer>,
  depth: number,
  work: WorkLimits,
  owned = false,
  queueKey = '',
): Promise<LongJson> {
  const message = { bytes, depth, owned, ...work }
  const read = (await thread.run(queueKey, message, [bytes.buffer])) as ReadJson
  if ('problem' in read) return { text: read.text, problem: JSON.parse(read.problem) }
  if ('error' in read) return read
  if (read.rest.length > longRest) await nextTurn()
  try {
    return { text: read.text, value: await parseShortened(read.text, read) }
  } catch (error) {
    return { text: read.text, error: (error as Error).message }
  }
}

/** A UTF-8 text that is part of a larger body: its bytes are copied. */
export const decodeLong = (bytes: Uint8Array, queueKey?: string): Promise<string> =>
  decode(bytes, false, queueKey)

/** JSON on one line. Its bytes are copied. */
export const decodeLine = (bytes: Uint8Array, queueKey?: string): Promise<string> =>
  decode(bytes, true, queueKey)

async function decode(bytes: Uint8Array, line: boolean, queueKey = ''): Promise<string> {
  const encoded = await copyInTurns([bytes], bytes.length)
  const result = await thread.run(queueKey, { encoded, line }, [encoded.buffer])
  return (result as { decoded: string }).decoded
}

/** Shorter ones take less than a millisecond. */
const longBase64 = 256 * 1024

/** The Base64 that begins there, without white space and after other words; undefined when it is none. */
export async function plainBase64After(
  before: string,
  text: string,
  from = 0,
  queueKey = '',
): Promise<string | undefined> {
  if (text.length <= longBase64) {
    const plain = plainBase64(text.slice(from))
    return plain === undefined ? undefined : before + plain
  }
  const work = { base64: text, from, before, asBytes: false }
  return ((await thread.run(queueKey, work)) as { plain: string | undefined }).plain
}

/** The bytes of Base64 that begins there; undefined when it is none. */
export async function base64Bytes(
  text: string,
  from = 0,
  queueKey = '',
): Promise<Uint8Array | undefined> {
  if (text.length <= longBase64) {
    const plain = plainBase64(text.slice(from))
    return plain === undefined ? undefined : Buffer.from(plain, 'base64')
  }
  const made = await thread.run(queueKey, { base64: text, from, before: '', asBytes: true })
  return made instanceof Uint8Array ? made : undefined
}

/** Texts with the bytes of Base64 between them; undefined when some is none. */
export async function bytesBetweenLong(
  texts: readonly string[],
  parts: readonly Base64Part[],
  queueKey = '',
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const letters = parts.reduce((sum, { text }) => sum + text.length, 0)
  if (letters <= longBase64) return bytesBetween(texts, parts)
  const work: LongParts = {
    around: JSON.stringify(texts),
    starts: JSON.stringify(parts.map(({ from }) => from)),
  }
  for (const [at, { text }] of parts.entries()) work[`v${at}`] = text
  const made = await thread.run(queueKey, work)
  return made instanceof Uint8Array ? (made as Uint8Array<ArrayBuffer>) : undefined
}

/** Bytes as Base64, after other words. Those of a long file that is all of its buffer are gone for the caller. */
export async function toBase64(
  file: Uint8Array<ArrayBuffer>,
  queueKey = '',
  before = '',
): Promise<string> {
  if (file.length <= longBase64) return before + file.toBase64()
  const isWhole = file.length === file.buffer.byteLength
  const whole = isWhole ? file : await copyInTurns([file], file.length)
  const made = await thread.run(queueKey, { file: whole, before }, [whole.buffer])
  return (made as { plain: string }).plain
}

/** How long a file of sound is: of many small parts, that takes hundreds of milliseconds. Its bytes are copied. */
export async function measureLong(bytes: Uint8Array, queueKey = ''): Promise<number | undefined> {
  const sound = await copyInTurns([bytes], bytes.length)
  const measured = await thread.run(queueKey, { sound }, [sound.buffer])
  return (measured as { seconds: number | undefined }).seconds
}

/** The JSON text with fields of the outermost object set to other values, encoded. */
export const encodeLong = async (
  text: string,
  fields: Readonly<Record<string, string>>,
  queueKey = '',
): Promise<Uint8Array> =>
  (await thread.run(queueKey, { text, fields: JSON.stringify(fields) })) as Uint8Array

/** JSON with another member in the object at the end of the path, encoded. Bytes are copied. */
export async function addMemberLong(
  given: string | Uint8Array,
  path: readonly string[],
  member: string,
  queueKey = '',
): Promise<Uint8Array<ArrayBuffer>> {
  const json = typeof given === 'string' ? given : await copyInTurns([given], given.length)
  const work = { json, path: JSON.stringify(path), member }
  const transfer = typeof json === 'string' ? [] : [json.buffer]
  return (await thread.run(queueKey, work, transfer)) as Uint8Array<ArrayBuffer>
}

/** The result of JSON.stringify for plain data: a string when it is short, else bytes. */
export async function stringifyLong(
  value: unknown,
  queueKey = '',
): Promise<string | Uint8Array<ArrayBuffer>> {
  const long: LongTemplate = { template: '', mark: `long:${randomUUID()}:` }
  let count = 0
  long.template = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'string' || each.length <= longValue) return each
    long[`v${count}`] = each
    return `${long.mark}${count++}`
  })
  return count === 0
    ? long.template
    : ((await thread.run(queueKey, long)) as Uint8Array<ArrayBuffer>)
}
