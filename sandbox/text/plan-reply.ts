// What the answer to a text request is, before it has a wire shape: reasoning, text or a function
// call, and how it ends. The request and its directives decide all of it.
import type { Directives } from '../http/directives.ts'
import type { Json } from '../http/fields.ts'
import { fitObject, fitValue } from './fit-schema.ts'
import { writeJsonProse, writeProse } from './prose.ts'
import { countTokens, splitTokens } from './tokens.ts'
import { countImages, type Tool, type Turn } from './turns.ts'

export interface FunctionCall {
  /** The protocol puts its own prefix before it. */
  id: string
  name: string
  input: Json
  /** The input as JSON, token by token. */
  tokens: readonly string[]
}

export interface Choice {
  /** Comes before everything else. */
  reasoning: readonly string[]
  /** The text, token by token; of a function call none. */
  tokens: readonly string[]
  call?: FunctionCall
  finish: 'stop' | 'length' | 'call'
}

export interface Reply {
  /** 64 hex characters, for ids. */
  hash: string
  created: number
  choices: readonly Choice[]
  outputTokens: number
  reasoningTokens: number
}

export interface Plannable {
  turns: readonly Turn[]
  choices: number
  maxTokens: number | undefined
  /** JSON is wanted: any, or some that fits a schema. */
  json: boolean | { schema: Json }
  /** The request's own switch for reasoning. */
  reasons: boolean
}

const earliest = 1_760_000_000
const usualReasoningTokens = 12
/** Only changes how an answer is delivered, or to whom. */
const immaterial = {
  stream: undefined,
  stream_options: undefined,
  user: undefined,
  metadata: undefined,
}

/** The same fields give the same reply. */
export function planReply(
  request: Plannable,
  tool: Tool | undefined,
  directives: Directives,
  fields: Json,
): Reply {
  const seedText = JSON.stringify({ ...fields, ...immaterial })
  const hash = new Bun.CryptoHasher('sha256').update(seedText).digest('hex')
  const seed = Number.parseInt(hash.slice(0, 8), 16)
  const choices = Array.from({ length: request.choices }, (_, index) => {
    const call = tool && callOf(tool, `${hash.slice(24, 44)}${index}`)
    return planChoice(request, call, directives, seed + index)
  })
  return {
    hash,
    created: earliest + (seed % 1_000_000),
    choices,
    outputTokens: choices.reduce((sum, choice) => sum + tokensOf(choice), 0),
    reasoningTokens: choices.reduce((sum, choice) => sum + choice.reasoning.length, 0),
  }
}

/** Reasoning counts towards a requested length; the caller's limit applies to both together. */
function planChoice(
  request: Plannable,
  call: FunctionCall | undefined,
  directives: Directives,
  seed: number,
): Choice {
  const { outputTokens: exact = Number.POSITIVE_INFINITY } = directives
  const limit = request.maxTokens ?? Number.POSITIVE_INFINITY
  const thought = Math.min(thoughtTokens(request, directives), call ? Infinity : exact)
  const reasoning = writeProse(~seed, Math.min(thought, limit))
  if (thought > limit) return { reasoning, tokens: [], finish: 'length' }
  if (call !== undefined) return { reasoning, tokens: [], call, finish: 'call' }
  const length = Number.isFinite(exact) ? exact - thought : undefined
  const tokens = writeText(request, seed, length)
  if (tokens.length <= limit - thought) return { reasoning, tokens, finish: 'stop' }
  return { reasoning, tokens: tokens.slice(0, limit - thought), finish: 'length' }
}

/** A JSON schema decides the whole text, and so its length. */
function writeText({ json, turns }: Plannable, seed: number, length: number | undefined) {
  if (typeof json === 'object') return splitTokens(JSON.stringify(fitValue(json.schema)))
  const write = json ? writeJsonProse : writeProse
  return write(seed, length, leadOf(countImages(turns)))
}

function thoughtTokens({ reasons }: Plannable, { reasoningTokens }: Directives): number {
  if (typeof reasoningTokens === 'number') return reasoningTokens
  return reasons || reasoningTokens === '' ? usualReasoningTokens : 0
}

function leadOf(images: number): string {
  if (images === 0) return ''
  return images === 1 ? 'I saw 1 image' : `I saw ${images} images`
}

function callOf({ name, parameters }: Tool, id: string): FunctionCall {
  const input = fitObject(parameters)
  return { id, name, input, tokens: splitTokens(JSON.stringify(input)) }
}

/** The name is handed over when a call opens. */
export const openingTokens = ({ name }: FunctionCall): number => countTokens(name)

function tokensOf({ reasoning, tokens, call }: Choice): number {
  const called = call === undefined ? 0 : openingTokens(call) + call.tokens.length
  return reasoning.length + tokens.length + called
}
