// A random mix of requests that are hard on a gateway: every shape at every size, spoiled in some way or
// another, under names that the caller chooses, and some with answers that are large. The same for the same
// seed. Refuses to know how they are sent.

import { answerModels } from './answers.ts'
import { stallBodies } from './bodies.ts'
import { hostileShapes, paths, type Wire, wires } from './hostile.ts'

export interface MixedRequest {
  /** What it is, for reports. */
  name: string
  path: string
  headers: Record<string, string>
  body: Buffer
  /** Sent without its length. */
  isChunked?: true
}

type Random = () => number
/** Something and how often it is wanted, in relation to the others. */
type Weighted<T> = readonly [T, number]

const kilobyte = 1024
const megabyte = 1024 * kilobyte

/** Just below the limits from which bodies are read in turns, in a thread, or not at all. */
const sizes: readonly Weighted<number>[] = [
  [10 * kilobyte, 20],
  [63 * kilobyte, 30],
  [127 * kilobyte, 25],
  [500 * kilobyte, 12],
  [megabyte - 1, 8],
  [2 * megabyte, 4],
  [8 * megabyte, 1],
  [32 * megabyte - kilobyte, 0.25],
]
/** Of bodies that are hard to translate; 1,000 are about 100 KB. */
const parts: readonly Weighted<number>[] = [
  [100, 20],
  [450, 30],
  [900, 25],
  [3_900, 15],
  [8_000, 10],
]

/** Numbers from 0 up to 1 (mulberry32). */
function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const oneOf = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)]!

function drawn<T>(random: Random, all: readonly Weighted<T>[]): T {
  let left = random() * all.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [value, weight] of all) {
    left -= weight
    if (left < 0) return value
  }
  return all.at(-1)![0]
}

const json = 'application/json'
const hostileNames = Object.keys(hostileShapes)
const stallNames = Object.keys(stallBodies)

function hardToTranslate(random: Random): MixedRequest {
  const name = oneOf(random, hostileNames)
  const { path, type, body } = hostileShapes[name]!(drawn(random, parts))
  return { name, path, headers: { 'content-type': type }, body: Buffer.from(body) }
}

function hardToRead(random: Random): MixedRequest {
  const name = oneOf(random, stallNames)
  const { path, type, body: text, isBroken } = stallBodies[name]!(drawn(random, sizes))
  const body = Buffer.from(text)
  if (isBroken) body[body.length - 8] = 0xff
  return { name, path, headers: { 'content-type': type }, body }
}

const asks: Readonly<Record<Wire, (model: string, stream: boolean) => object>> = {
  chat: (model, stream) => ({ model, stream, messages: [{ role: 'user', content: 'a' }] }),
  responses: (model, stream) => ({ model, stream, input: 'a' }),
  messages: (model, stream) => ({
    model,
    stream,
    max_tokens: 20,
    messages: [{ role: 'user', content: 'a' }],
  }),
  generate: () => ({ contents: [{ role: 'user', parts: [{ text: 'a' }] }] }),
}

function largeAnswer(random: Random): MixedRequest {
  const { name, model, wire } = oneOf(random, answerModels)
  // As often in its own style as in any other.
  const from = random() < 0.5 ? wire : oneOf(random, wires)
  const body = Buffer.from(JSON.stringify(asks[from](model, random() < 0.3)))
  const path = paths[from](model)
  const asked = random() < 0.5 ? { 'x-gateway-include': 'charge' } : {}
  return { name: `${from}: ${name}`, path, headers: { 'content-type': json, ...asked }, body }
}

const image = (): MixedRequest => ({
  name: 'an image as an answer',
  path: '/v1/images/edits',
  headers: { 'content-type': json },
  body: Buffer.from(
    JSON.stringify({
      model: 'imga-edit',
      prompt: 'a',
      images: [{ image_url: 'data:image/png;base64,iVBORw0KGgoAAAAN' }],
    }),
  ),
})

const word = (random: Random): string => Math.floor(random() * 1e9).toString(36)

function chosenNames(random: Random): MixedRequest {
  const tags = Array.from({ length: 8 }, () => `${word(random)}=${word(random)}`).join(',')
  const fields = { ...asks.chat(`any-${word(random)}`, false), user: word(random) }
  return {
    name: 'names of its own',
    path: '/v1/chat/completions',
    headers: { 'content-type': json, 'x-gateway-tags': tags },
    body: Buffer.from(JSON.stringify(fields)),
  }
}

const kinds: readonly Weighted<(random: Random) => MixedRequest>[] = [
  [hardToTranslate, 40],
  [hardToRead, 40],
  [largeAnswer, 6],
  [image, 1],
  [chosenNames, 13],
]

/** Ways in which a request is made worse. */
const spoilers: readonly Weighted<(given: MixedRequest, random: Random) => MixedRequest>[] = [
  [(given) => given, 60],
  [(given) => ({ ...given, isChunked: true }), 10],
  [(given) => ({ ...given, body: given.body.subarray(0, -1) }), 5],
  [withWrongByte, 5],
  [withKeyTwice, 5],
  [gzipped, 4],
  [(given, random) => ({ ...given, path: paths[oneOf(random, wires)]('bench-chat') }), 6],
  [(given) => ({ ...given, headers: { ...given.headers, 'content-type': 'text/plain' } }), 2],
  [(given) => ({ ...given, headers: { ...given.headers, authorization: 'Bearer sk-no' } }), 3],
]

function withWrongByte(given: MixedRequest, random: Random): MixedRequest {
  const body = Buffer.from(given.body)
  body[Math.floor(random() * body.length)] = 0xff
  return { ...given, body }
}

function withKeyTwice(given: MixedRequest): MixedRequest {
  const body = Buffer.concat([given.body.subarray(0, -1), Buffer.from(',"model":"bench-chat"}')])
  return { ...given, body }
}

function gzipped(given: MixedRequest): MixedRequest {
  const headers = { ...given.headers, 'content-encoding': 'gzip' }
  return { ...given, headers, body: Buffer.from(Bun.gzipSync(new Uint8Array(given.body))) }
}

/** Made one by one: together they have gigabytes. */
export function* mixOf(seed: number, count: number): Generator<MixedRequest> {
  const random = seeded(seed)
  for (let i = 0; i < count; i++) {
    const made = drawn(random, kinds)(random)
    yield drawn(random, spoilers)(made, random)
  }
}
