// Calls of every interface at random, what an upstream says of each, and what each may cost: worked out
// here from the prices that ship and from what was asked for, without the gateway's help.
import fc from 'fast-check'
import type { RequestRow } from '../read.ts'
import { idIn, type WriteDialect } from '../tasks/task-dialects.ts'
import type { Told } from './lying-upstream.ts'

type Numbers = Pick<Told, 'input' | 'output' | 'read' | 'written'>

interface Kind {
  path: string
  body(prompt: string): object
  /** Of a text call: what the model takes in, and what the request lets it say. */
  text?: { window: number; maxOutput: number; isMessages?: true; rates: Rates }
  /** Of anything else: what a unit costs, and how many can be charged. */
  units?: { rateNanos: bigint; max: number; far: readonly number[] }
  /** The dialect of a task that the caller does not wait for. */
  dialect?: WriteDialect
  /** The most input tokens that the hold surely covers; every report is covered where it is absent. */
  coveredInput?: number
  /** The most units that the hold surely covers. */
  coveredUnits?: number
}

interface Rates {
  input: bigint
  read: bigint
  written: bigint
  output: bigint
}

/** Nano-units per token. */
const plus: Rates = { input: 800n, read: 80n, written: 1_000n, output: 2_000n }
const embed: Rates = { input: 500n, read: 500n, written: 500n, output: 0n }
const window = 1_000_000
const shortText = 60

const chat = (
  more: object,
  shape: { maxOutput?: number; coveredInput?: number; part?: object } = {},
): Kind => ({
  path: '/v1/chat/completions',
  body: (text) => ({
    model: 'txta-plus',
    messages: [{ role: 'user', content: shape.part ? [{ type: 'text', text }, shape.part] : text }],
    ...more,
  }),
  text: { window, maxOutput: shape.maxOutput ?? 8_192, rates: plus },
  coveredInput: shape.coveredInput ?? shortText,
})

const seconds = (each: bigint, max: number, least = 0) => ({
  units: { rateNanos: each * 10_000_000n, max, far: [least, 1, 2.5, max, max + 1, 599, 600] },
})
/** 1920 x 1088, 12 seconds: the largest that the model makes, and the tenth that counts may differ. */
const maxFilm = 589_560
const filmTokens = {
  units: {
    rateNanos: 15_000n,
    max: maxFilm + maxFilm / 10,
    far: [0, 1_000, 100_000, maxFilm, 900_000_000],
  },
}
const pictures = (each: bigint, max: number) => ({
  units: { rateNanos: each * 1_000_000n, max, far: [1, max, max + 1, 9] },
})
const nativePath = '/arkvendor/api/v3/contents/generations/tasks'
const native = (commands: string, more: object = {}) => ({
  path: nativePath,
  dialect: 'arkvendor' as const,
  body: (text: string) => ({
    model: 'vidmodel-1-0-pro',
    content: [{ type: 'text', text: `${text} ${commands}` }],
    ...more,
  }),
  ...filmTokens,
})
const video = (model: string, more: object) => ({
  path: '/v1/videos',
  dialect: 'videos' as const,
  body: (prompt: string) => ({ model, prompt, resolution: '720p', ...more }),
})
const imageUrl = { type: 'image_url', image_url: { url: 'https://media.example/a.png' } }
const videoUrl = { type: 'video_url', video_url: { url: 'https://media.example/a.mp4' } }

export const kinds: Readonly<Record<string, Kind>> = {
  chat: chat({}),
  'chat with a bound': chat({ max_tokens: 16 }, { maxOutput: 16 }),
  'chat with several answers': chat({ max_tokens: 20, n: 3 }, { maxOutput: 60 }),
  'chat in a stream': chat({ max_tokens: 40, stream: true }, { maxOutput: 40 }),
  'chat in an open stream': chat({ stream: true, stream_options: { include_usage: true } }),
  'chat with an image': chat(
    { max_tokens: 16 },
    { maxOutput: 16, coveredInput: 16_384, part: imageUrl },
  ),
  'chat with a video': chat(
    { max_tokens: 16 },
    { maxOutput: 16, coveredInput: window, part: videoUrl },
  ),
  responses: {
    path: '/v1/responses',
    body: (input) => ({ model: 'txta-plus', input, max_output_tokens: 32 }),
    text: { window, maxOutput: 32, rates: plus },
    coveredInput: shortText,
  },
  messages: {
    path: '/v1/messages',
    body: (content) => ({
      model: 'txta-plus',
      max_tokens: 24,
      messages: [{ role: 'user', content }],
    }),
    text: { window, maxOutput: 24, isMessages: true, rates: plus },
    coveredInput: shortText,
  },
  embeddings: {
    path: '/v1/embeddings',
    body: (input) => ({ model: 'txta-embed', input }),
    text: { window: 32_768, maxOutput: 0, rates: embed },
    // Nothing of a message is around it.
    coveredInput: 16,
  },
  images: {
    path: '/v1/images/generations',
    body: (prompt) => ({ model: 'imga-plus', prompt, n: 2 }),
    ...pictures(200n, 2),
  },
  'image task': {
    path: '/imgvendor/v1/images/generations',
    dialect: 'imgvendor',
    body: (prompt) => ({ model_name: 'imgvendor-v2', prompt, n: 3 }),
    ...pictures(100n, 3),
  },
  'video vfa': { ...video('vfa-2.7-t2v', { seconds: 5 }), ...seconds(60n, 5) },
  'video vfb': { ...video('vfb-1.1-t2v', { seconds: 4 }), ...seconds(90n, 4) },
  'video edit': {
    ...video('vfb-1.0-video-edit', { references: { video: ['https://m.example/a.mp4'] } }),
    ...seconds(90n, 15),
  },
  operation: {
    path: '/vendorg/v1beta/models/vendorg-video-1:predictLongRunning',
    dialect: 'vendorg',
    body: (prompt) => ({ instances: [{ prompt }], parameters: { durationSeconds: 4 } }),
    // No seconds at all count as not reported in this dialect.
    ...seconds(100n, 4, 0.5),
  },
  'video by tokens': {
    ...video('vidmodel-1-0-pro', { seconds: 2 }),
    ...filmTokens,
    coveredUnits: 1_000,
  },
  'native task': {
    ...native('', { resolution: '480p', duration: 2, ratio: '16:9' }),
    coveredUnits: 1_000,
  },
  'native task by commands': native('--RS 1080p —dur 12', { resolution: '480p', duration: 2 }),
}

export interface MixedCall {
  kind: string
  /** Reported where nothing is to pass the hold. */
  near: Pick<Numbers, 'input' | 'read' | 'written'>
  told: Told
  far: number
}

const cacheParts = (max: number) => fc.oneof(fc.constant(0), fc.integer({ min: 0, max }))
const wild = fc.oneof(
  fc.integer({ min: 0, max: 40_000 }),
  fc.constantFrom(300_000, 500_000, 1_000_000, 5_000_000, 1_000_000_000),
)

const callsOf = (some: readonly string[]): fc.Arbitrary<MixedCall> =>
  fc.record({
    kind: fc.constantFrom(...some),
    near: fc.record({
      input: fc.integer({ min: 0, max: 1_000_000 }),
      read: cacheParts(shortText),
      written: cacheParts(shortText),
    }),
    told: fc.record({
      input: wild,
      output: wild,
      read: cacheParts(2_000_000),
      written: cacheParts(2_000_000),
      spelling: fc.constantFrom('prompt' as const, 'input' as const),
      missing: fc.oneof(
        { weight: 8, arbitrary: fc.constant('nothing' as const) },
        { weight: 1, arbitrary: fc.constantFrom('output' as const, 'all' as const) },
      ),
      units: fc.constant(null),
      ending: fc.oneof(
        { weight: 10, arbitrary: fc.constant('good' as const) },
        { weight: 1, arbitrary: fc.constantFrom('cut' as const, 'failed' as const) },
      ),
    }),
    far: fc.nat(),
  })

/** Micro-units: nothing, some text calls, one dear one, some videos. */
const aBalance = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1_000, max: 50_000 }),
  fc.integer({ min: 50_000, max: 1_500_000 }),
  fc.integer({ min: 5_000_000, max: 30_000_000 }),
)

export interface Mix {
  microBalance: number
  calls: readonly MixedCall[]
  liar: number
}

/** Of a few interfaces or of all. */
export const aMix: fc.Arbitrary<Mix> = fc
  .subarray(Object.keys(kinds), { minLength: 3 })
  .chain((some) =>
    fc.record({
      microBalance: aBalance,
      calls: fc.array(callsOf(some), { minLength: 5, maxLength: 40, size: 'max' }),
      liar: fc.nat(39),
    }),
  )

/** The call that is chosen to be reported above its hold: one that can be, if there is any. */
export function liarOf({ calls, liar }: Mix): number {
  const able = [...calls.keys()].filter((i) => {
    const { coveredInput = window, coveredUnits } = kinds[calls[i]!.kind]!
    return coveredInput < window || coveredUnits !== undefined
  })
  return able[liar % able.length] ?? 0
}

/** What the upstream says: within what is held for it, or anything. */
export function toldOf({ kind, near, told, far }: MixedCall, isCovered: boolean): Told {
  const { units, coveredInput = 0, coveredUnits } = kinds[kind]!
  const choices = [...(units?.far ?? [0]), null]
  const chosen = choices[far % choices.length]!
  const count = kinds[kind]!.path.includes('/images/') ? Math.floor(chosen ?? 1) : chosen
  if (!isCovered) return { ...told, units: count }
  const fits = coveredUnits === undefined || (count !== null && count <= coveredUnits)
  // Where the style counts cached tokens apart, they come on top.
  const input = near.input % (Math.floor(coveredInput / 3) + 1)
  const most = (tokens: number) => Math.min(tokens, Math.floor(coveredInput / 3))
  return {
    ...told,
    input,
    read: most(near.read),
    written: most(near.written),
    units: fits ? count : coveredUnits,
  }
}

/** Whether the hold surely covers what is reported, so that no account can be short of it. */
export function isWithinHold(kind: string, { input, read, written, units }: Told): boolean {
  const { text, coveredInput = 0, coveredUnits = Number.POSITIVE_INFINITY } = kinds[kind]!
  if (text === undefined) return (units ?? 0) <= coveredUnits
  return coveredInput >= window || input + read + written <= coveredInput
}

/** The part of the reported usage that the request allows; undefined where it was not reported. */
export function allowedUsage(kind: string, told: Told): Partial<RequestRow['usage']> | undefined {
  const { text } = kinds[kind]!
  if (text === undefined || told.missing === 'all') return undefined
  const apart = text.isMessages ? told.read + told.written : 0
  const input_tokens = Math.min(told.input + apart, text.window)
  const hasParts = text.rates !== embed
  const cache_read_tokens = hasParts ? Math.min(told.read, input_tokens) : 0
  const cache_write_tokens = hasParts ? Math.min(told.written, input_tokens - cache_read_tokens) : 0
  const sides = { input_tokens, cache_read_tokens, cache_write_tokens }
  if (told.missing === 'output') return sides
  return { ...sides, output_tokens: Math.min(told.output, text.maxOutput) }
}

export function textPrice(kind: string, usage: NonNullable<RequestRow['usage']>): bigint {
  const { input, read, written, output } = kinds[kind]!.text!.rates
  const plain = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
  return (
    BigInt(plain) * input +
    BigInt(usage.cache_read_tokens) * read +
    BigInt(usage.cache_write_tokens) * written +
    BigInt(usage.output_tokens) * output
  )
}

/** By what was reported, else by what was charged for. */
export function unitsPrice(kind: string, told: Told, quantity: number): bigint {
  const { rateNanos, max } = kinds[kind]!.units!
  const count = Math.min(told.units ?? quantity, max)
  return (BigInt(Math.round(count * 1000)) * rateNanos) / 1000n
}

/** The id of the task, where the caller does not wait for its end. */
export const taskIdIn = (kind: string, text: string): string | undefined => {
  const { dialect } = kinds[kind]!
  return dialect === undefined ? undefined : idIn(dialect, text)
}
