// What the answer to a text request is, before it has a wire shape: reasoning, text or function
// calls, and how it ends. The request and its directives decide all of it.
import type { Directives } from '../http/directives.ts'
import { asObject, asText, type Json } from '../http/fields.ts'
import { writeJsonProse, writeProse } from './prose.ts'
import { fitObject, fitValue } from './schema/fit-schema.ts'
import { digestOf } from './seals.ts'
import { countTokens, splitTokens } from './tokens.ts'
import type { WantedAnswer, WantedCall } from './tool-script.ts'
import { countImages, type Tool, type Turn } from './turns.ts'

export interface FunctionCall {
  /** The protocol puts its own prefix before it. */
  id: string
  name: string
  namespace?: string | undefined
  /** Its input is text; otherwise it is JSON. */
  freeForm: boolean
  input: Json
  /** The input as JSON or text, token by token. */
  tokens: readonly string[]
}

/** Where a text takes something from, at the start of the text. */
export interface Citation {
  url: string
  title: string
  quote: string
}

/** `filtered`: the answer was withheld, or broken off, for what it says. */
export type Finish = 'stop' | 'stop_sequence' | 'length' | 'call' | 'refusal' | 'filtered'

export interface Choice {
  /** Comes before everything else. */
  reasoning: readonly string[]
  /** The text, token by token. */
  tokens: readonly string[]
  /** Come after the text, if there is any beside them. */
  calls: readonly FunctionCall[]
  finish: Finish
  citation?: Citation | undefined
  /** The text of the caller that ended it. */
  stopSequence?: string
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
  /** Texts that end the answer before them. */
  stop: readonly string[]
  /** JSON is wanted: any, or some that fits a schema. */
  json: boolean | { schema: Json }
  /** The request's own switch for reasoning. */
  reasons: boolean
}

const usualReasoningTokens = 12
const preambleTokens = 8
const refusalText = 'I cannot help with that request.'
/** Only changes how an answer is delivered, or to whom. */
const immaterial = {
  stream: undefined,
  stream_options: undefined,
  user: undefined,
  metadata: undefined,
}

/** The same fields give the same reply, at the same time. */
export function planReply(
  request: Plannable,
  wanted: WantedAnswer,
  directives: Directives,
  fields: Json,
  nowMs: number,
): Reply {
  const seedText = JSON.stringify({ ...fields, ...immaterial })
  const hash = new Bun.CryptoHasher('sha256').update(seedText).digest('hex')
  const seed = Number.parseInt(hash.slice(0, 8), 16)
  const choices = Array.from({ length: request.choices }, (_, index) => {
    const calls = wanted.calls.map((call, at) => {
      // No id may be the beginning of another: clients derive ids of their own from them.
      const id = at === 0 ? hash.slice(24, 44) + index : digestOf(`${hash} ${index} ${at}`)
      return callOf(call, id)
    })
    return planChoice(request, { calls, text: wanted.text }, directives, seed + index)
  })
  return {
    hash,
    created: Math.floor(nowMs / 1000),
    choices,
    outputTokens: choices.reduce((sum, choice) => sum + tokensOf(choice), 0),
    reasoningTokens: choices.reduce((sum, choice) => sum + choice.reasoning.length, 0),
  }
}

interface Said {
  calls: readonly FunctionCall[]
  text: string | undefined
}

/** Reasoning counts towards a requested length; the caller's limit applies to both together. */
function planChoice(
  request: Plannable,
  { calls, text }: Said,
  directives: Directives,
  seed: number,
): Choice {
  const { outputTokens: exact = Number.POSITIVE_INFINITY } = directives
  const limit = request.maxTokens ?? Number.POSITIVE_INFINITY
  const thought = Math.min(thoughtTokens(request, directives), calls.length > 0 ? Infinity : exact)
  const reasoning = writeProse(~seed, Math.min(thought, limit))
  if (thought > limit) return { reasoning, tokens: [], calls: [], finish: 'length' }
  if (calls.length > 0) {
    const tokens = directives.preamble ? writeProse(seed, preambleTokens) : []
    return { reasoning, tokens, calls, finish: endOf(directives, 'call') }
  }
  if (directives.refusal !== undefined) {
    return { reasoning, tokens: splitTokens(refusalText), calls, finish: 'refusal' }
  }
  const length = Number.isFinite(exact) ? exact - thought : undefined
  const all = text === undefined ? writeText(request, seed, length) : splitTokens(text)
  const { tokens, stopSequence } = stopAt(all, request.stop)
  if (tokens.length > limit - thought) {
    const some = tokens.slice(0, limit - thought)
    return { reasoning, tokens: some, calls, finish: endOf(directives, 'length') }
  }
  if (stopSequence === undefined) {
    const citation = directives.cite ? cite(tokens) : undefined
    return { reasoning, tokens, calls, finish: endOf(directives, 'stop'), citation }
  }
  const finish = endOf(directives, 'stop_sequence')
  return { reasoning, tokens, calls, finish, stopSequence }
}

const cite = ([quote]: readonly string[]): Citation | undefined =>
  quote === undefined
    ? undefined
    : { url: 'https://sandbox.example/source', title: 'A source', quote }

/** Ends before the first of the texts that the caller does not want to see. */
function stopAt(tokens: readonly string[], stop: readonly string[]) {
  const text = stop.length === 0 ? '' : tokens.join('')
  const found = stop
    .map((sequence) => ({ sequence, at: sequence === '' ? -1 : text.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)[0]
  if (found === undefined) return { tokens }
  return { tokens: splitTokens(text.slice(0, found.at)), stopSequence: found.sequence }
}

const endOf = ({ finish }: Directives, usual: Finish): Finish =>
  finish === 'filtered' ? 'filtered' : usual

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

function callOf({ tool, input }: WantedCall, id: string): FunctionCall {
  const { name, namespace, freeForm = false } = tool
  const common = { id, name, namespace, freeForm }
  if (freeForm) return { ...common, input: {}, tokens: splitTokens(freeText(input)) }
  const given = inputOf(tool, input)
  return { ...common, input: given, tokens: splitTokens(JSON.stringify(given)) }
}

/** A text is the only field of a tool that was described as free-form elsewhere. */
function inputOf({ parameters }: Tool, input: unknown): Json {
  if (typeof input === 'string') return { input }
  return input === undefined ? fitObject(parameters) : asObject(input)
}

function freeText(input: unknown): string {
  if (typeof input === 'string') return input
  return input === undefined ? 'sandbox' : asText(asObject(input)['input']) || JSON.stringify(input)
}

/** The name is handed over when a call opens. */
export const openingTokens = ({ name }: FunctionCall): number => countTokens(name)

function tokensOf({ reasoning, tokens, calls }: Choice): number {
  const called = calls.reduce((sum, call) => sum + openingTokens(call) + call.tokens.length, 0)
  return reasoning.length + tokens.length + called
}
