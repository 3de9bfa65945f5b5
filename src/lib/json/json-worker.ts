// The thread that reads and encodes long texts and Base64, and measures sound, one after the other.
import { audioSeconds } from '../audio/measure.ts'
import { bytesBetween, plainBase64 } from '../base64.ts'
import { collectSoon } from '../collect-soon.ts'
import { lowerPriority } from '../lower-priority.ts'
import { type Shortened, shorten } from './long-strings.ts'
import { onOneLine } from './plain-text.ts'
import { JsonScan, type ScanProblem, type WorkLimits } from './scan.ts'
import { withEdits, withMember, withModel } from './splice.ts'

declare const self: Worker

lowerPriority()

/** Messages are flat records: only those share their texts between threads. */
export type TextWork =
  /** JSON to read, and limits for it. */
  | ({ bytes: Uint8Array; depth: number; owned: boolean } & WorkLimits)
  /** A text to decode; `line`: JSON, on one line. */
  | { encoded: Uint8Array; line: boolean }
  /** A file of sound to measure. */
  | { sound: Uint8Array }
  /** Base64 that begins there, to check and to put after other words; `asBytes`: to decode. */
  | { base64: string; from: number; before: string; asBytes: boolean }
  /** Bytes to write as Base64, after other words. */
  | { file: Uint8Array; before: string }
  /** Texts with the bytes of Base64 between them. */
  | LongParts
  /** A JSON text to encode, and fields to set in it: a record of JSON values, itself as JSON; empty: left out. */
  | { text: string; fields: string }
  /** JSON that gets another member, in the object at the end of a path, itself as JSON; and is encoded. */
  | { json: Uint8Array | string; path: string; member: string }
  /** JSON to encode, with words in place of its long strings: the mark, and a number. */
  | LongTemplate

export interface LongParts {
  /** A list of texts, and one of where the Base64 between them begins in its own text, as JSON. */
  around: string
  starts: string
  /** Those texts, by number with a `v` before it. */
  [value: `v${number}`]: string
}

export interface LongTemplate {
  template: string
  mark: string
  /** The long strings, by number with a `v` before it. */
  [value: `v${number}`]: string
}

export type ReadJson =
  | ({ text: string } & Shortened)
  | { text: string; problem: string }
  | { text: string; error: string }

export type TextResult =
  | ReadJson
  | { decoded: string }
  | { seconds: number | undefined }
  /** Absent: it was no Base64. */
  | { plain: string | undefined }
  | Uint8Array

self.onmessage = ({ data }: MessageEvent<TextWork>) => {
  if ('bytes' in data) self.postMessage(read(data))
  else if ('sound' in data) self.postMessage({ seconds: audioSeconds(data.sound) })
  else if ('file' in data)
    self.postMessage({ plain: data.before + bufferOf(data.file).toString('base64') })
  else if ('base64' in data) answerBase64(data)
  else if ('around' in data) answerParts(data)
  else if ('encoded' in data) self.postMessage({ decoded: decoded(data) })
  else {
    const bytes = new TextEncoder().encode(written(data))
    self.postMessage(bytes, [bytes.buffer])
  }
  collectSoon(data)
}

function decoded({ encoded, line }: Extract<TextWork, { encoded: Uint8Array }>): string {
  const text = textOf(encoded)
  return line ? onOneLine(text) : text
}

function answerBase64({
  base64,
  from,
  before,
  asBytes,
}: Extract<TextWork, { base64: string }>): void {
  const given = base64.slice(from)
  const plain = plainBase64(given)
  if (plain === undefined || !asBytes) {
    // The same text is shared; another one has to be written.
    const isSame = plain === given && base64.slice(0, from) === before
    const whole = isSame ? base64 : before + plain
    self.postMessage({ plain: plain === undefined ? undefined : whole })
    return
  }
  const bytes = new Uint8Array(Buffer.from(plain, 'base64'))
  self.postMessage(bytes, [bytes.buffer])
}

function answerParts({ around, starts, ...texts }: LongParts): void {
  const parts = (JSON.parse(starts) as number[]).map((from, at) => ({
    text: texts[`v${at}`]!,
    from,
  }))
  const bytes = bytesBetween(JSON.parse(around), parts)
  if (bytes === undefined) self.postMessage({ plain: undefined })
  else self.postMessage(bytes, [bytes.buffer])
}

type Written = Extract<TextWork, { text: string } | { json: Uint8Array | string } | LongTemplate>

function written(data: Written): string {
  if ('text' in data) return withFields(data.text, JSON.parse(data.fields))
  if (!('json' in data)) return filled(data)
  const { json, path, member } = data
  return withMember(typeof json === 'string' ? json : textOf(json), JSON.parse(path), member)
}

const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const textOf = (bytes: Uint8Array): string => bufferOf(bytes).toString()

/** Between two checks of the work that a text is. */
const stepsAtOnce = 100_000

function read({
  bytes,
  depth,
  owned,
  ...work
}: Extract<TextWork, { bytes: Uint8Array }>): ReadJson {
  const text = textOf(bytes)
  const scan = new JsonScan(text, { depth, work })
  while (!scan.run(stepsAtOnce));
  if (scan.problem !== undefined) {
    return { text, problem: JSON.stringify(scan.problem satisfies ScanProblem) }
  }
  try {
    return { text, ...shorten(text, scan.long, owned, scan.cuts) }
  } catch (error) {
    return { text, error: (error as Error).message }
  }
}

function withFields(text: string, fields: Readonly<Record<string, string>>): string {
  const { model, ...edits } = fields
  return withEdits(model === undefined ? text : withModel(text, JSON.parse(model)), edits)
}

function filled(given: LongTemplate): string {
  const [first, ...others] = given.template.split(`"${given.mark}`)
  let text = first!
  for (const other of others) {
    const end = other.indexOf('"')
    text += JSON.stringify(given[`v${Number(other.slice(0, end))}`]) + other.slice(end + 1)
  }
  return text
}
