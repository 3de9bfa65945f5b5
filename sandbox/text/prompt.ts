// A prompt laid out as tokens, and the memory of prompts seen before. Serves every protocol that
// reads text; how a request becomes a prompt is the protocol's affair.
import { splitTokens } from './tokens.ts'

const tokensPerMessage = 3
const tokensPerMedia = 258
/** Implicit caching works in whole blocks: shorter prompts are never cached. */
const blockTokens = 256
/** Bounds what one prompt can push out of the memory. */
const maxBlocks = 400
const maxMarks = 4

/** Whether a part ends a prefix to be cached, and for how long: five minutes or an hour. */
export type Mark = 'none' | 'minutes' | 'hour'

export interface CacheUse {
  cachedTokens: number
  createdTokens: number
  /** Those of the created tokens that a mark of an hour wrote. */
  createdForHourTokens: number
  /** What made the cache work: marks in the request, a cache key, or nothing but the prompt. */
  by: 'marks' | 'key' | 'prompt'
}

/** Who shares a cache. */
interface CacheScope {
  /** The provider key. */
  key: string
  model: string
  /** The request's own name for its cache: others do not share it, and what is written is told. */
  cacheKey?: string | undefined
}

export class Prompt {
  /** One entry per token, so that the length is the count. */
  readonly #tokenTexts: string[] = []
  readonly #ends: number[] = []
  readonly #marks: { end: number; hour: boolean }[] = []

  get tokens(): number {
    return this.#tokenTexts.length
  }

  get tokenTexts(): readonly string[] {
    return this.#tokenTexts
  }

  /** Where parts end, as token counts: the places a marked prefix may end. */
  get ends(): readonly number[] {
    return this.#ends
  }

  get marks(): readonly { end: number; hour: boolean }[] {
    return this.#marks.slice(-maxMarks)
  }

  openMessage(role: string): void {
    this.#tokenTexts.push(role)
    this.#fill(tokensPerMessage - 1)
  }

  addText(text: string): void {
    for (const piece of splitTokens(text)) this.#tokenTexts.push(piece)
  }

  addMedia(reference: string): void {
    this.#tokenTexts.push(reference)
    this.#fill(tokensPerMedia - 1)
  }

  endPart(mark: Mark): void {
    const end = this.tokens
    // A part and the message around it may end in the same place.
    if (this.#ends.at(-1) !== end) this.#ends.push(end)
    if (mark === 'none') return
    if (this.#marks.at(-1)?.end === end) this.#marks.pop()
    this.#marks.push({ end, hour: mark === 'hour' })
  }

  #fill(count: number): void {
    for (let i = 0; i < count; i++) this.#tokenTexts.push('')
  }
}

/** Remembers prompt prefixes by their hash, the least recently used forgotten first. */
export class PromptCache {
  readonly #seen = new Map<string, true>()
  readonly #capacity: number

  constructor(capacity = 20_000) {
    this.#capacity = capacity
  }

  /** Finds a prompt and remembers it. */
  use(prompt: Prompt, { key, model, cacheKey }: CacheScope): CacheUse {
    const scope = [key, model, cacheKey ?? ''].join(' ')
    return prompt.marks.length > 0
      ? this.#useMarks(prompt, `explicit ${scope}`)
      : this.#useBlocks(prompt, `implicit ${scope}`, cacheKey !== undefined)
  }

  #useBlocks(prompt: Prompt, scope: string, tellsWrites: boolean): CacheUse {
    const blocks = Math.min(Math.floor(prompt.tokens / blockTokens), maxBlocks)
    const ends = Array.from({ length: blocks }, (_, i) => (i + 1) * blockTokens)
    const keys = chain(prompt.tokenTexts, ends, scope)
    const missing = keys.findIndex((key) => !this.#seen.has(key))
    const hits = missing === -1 ? blocks : missing
    for (const key of keys) this.#remember(key)
    return {
      cachedTokens: hits * blockTokens,
      createdTokens: tellsWrites ? (blocks - hits) * blockTokens : 0,
      createdForHourTokens: 0,
      by: tellsWrites ? 'key' : 'prompt',
    }
  }

  /** A hit is the longest prefix some earlier request marked, whether or not this one marks it. */
  #useMarks(prompt: Prompt, scope: string): CacheUse {
    const { marks } = prompt
    const lastMark = marks.at(-1)?.end ?? 0
    const ends = prompt.ends.filter((end) => end <= lastMark)
    const keys = chain(prompt.tokenTexts, ends, scope)
    const hit = keys.findLastIndex((key) => this.#seen.has(key))
    const cachedTokens = hit === -1 ? 0 : ends[hit]!
    ends.forEach((end, i) => {
      const marked = marks.some((mark) => mark.end === end)
      if (i === hit || marked) this.#remember(keys[i]!)
    })
    const createdForHourTokens = hourTokens(marks, cachedTokens)
    return {
      cachedTokens,
      createdTokens: lastMark - cachedTokens,
      createdForHourTokens,
      by: 'marks',
    }
  }

  #remember(key: string): void {
    this.#seen.delete(key)
    this.#seen.set(key, true)
    if (this.#seen.size > this.#capacity) this.#seen.delete(this.#seen.keys().next().value!)
  }
}

/** Every mark writes what lies between the one before it and itself. */
function hourTokens(marks: Prompt['marks'], cachedTokens: number): number {
  let from = cachedTokens
  let tokens = 0
  for (const { end, hour } of marks) {
    if (hour && end > from) tokens += end - from
    from = Math.max(from, end)
  }
  return tokens
}

/** One key per prefix; each covers all that came before it. */
function chain(tokenTexts: readonly string[], ends: readonly number[], scope: string): string[] {
  let hash = BigInt(Bun.hash(scope))
  let start = 0
  return ends.map((end) => {
    hash = BigInt(Bun.hash(tokenTexts.slice(start, end).join('\0'), hash))
    start = end
    return hash.toString(36)
  })
}
