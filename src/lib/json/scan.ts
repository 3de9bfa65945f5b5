// Scans a JSON text before it is parsed: nesting depth, cost of parsing, duplicate keys. Can pause
// and resume, so that a large text does not block the event loop. Leaves validity to the parser.
import { type LongString, longString } from './long-strings.ts'
import { endOfString } from './parse.ts'
import { type Cut, partWork } from './parse-parts.ts'

interface ScanLimits {
  depth: number
  /** Absent: the text is so short that no content makes it expensive. */
  work?: WorkLimits
  /** Between two cuts; absent: the usual. */
  partWork?: number
}

/** In nanoseconds of parsing, roughly. */
export interface WorkLimits {
  total: number
  /** Everything but string characters: containers, keys, numbers, white space. */
  structure: number
}

export type ScanProblem =
  | { kind: 'too_deep' | 'too_much_work' | 'prototype_key' }
  /** Path, such as `stream_options.include_usage`. */
  | { kind: 'key_twice'; path: string }

/** Cost of each part for the parser; a new key or short text has to be interned. */
const cost = {
  character: 0.85,
  escape: 14,
  loneEscape: 45,
  structural: 4,
  separator: 15,
  container: 300,
  key: 60,
  newKey: 1_300,
  string: 25,
  newString: 500,
} as const

/** Longer texts are not interned by the parser. */
const maxInterned = 32
/** Objects with more keys are looked up in a set. */
const fewKeys = 12
const internSlots = 8_192

const quoteMark = 0x22
const comma = 0x2c
const backslash = 0x5c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

export class JsonScan {
  #text: string
  #limits: ScanLimits
  problem: ScanProblem | undefined
  /** Values that are long strings; only looked for where work is bounded. */
  readonly long: LongString[] = []
  /** Where it is cut to be parsed in parts; only looked for where work is bounded. */
  readonly cuts: Cut[] = []
  #cutWork = 0
  /** Characters of the text up to here whose cost has been added. */
  #weighed = 0
  /** The outermost level since the last cut. */
  #minDepth = 0
  #at = 0
  /** Where the search for the end of an open string resumes; -1 outside of strings. */
  #stringAt = -1
  #from = 0
  #nextSlash = -1
  #afterEscape = -1
  #steps = 0
  #characters = 0
  #structure = 0
  readonly #interned: Int32Array | undefined
  #depth = 0
  #wantsKey = false
  /** By depth: whether it is an object, its first key in the lists below, array entries so far. */
  readonly #isObject: boolean[] = [false]
  readonly #firstKey: number[] = [0]
  readonly #entry: number[] = [0]
  readonly #sets: (Set<string> | undefined)[] = []
  /** Start and end of the keys of all open objects. */
  readonly #keyFrom: number[] = []
  readonly #keyTo: number[] = []
  #keys = 0

  constructor(text: string, limits: ScanLimits) {
    this.#text = text
    this.#limits = limits
    if (limits.work !== undefined) this.#interned = new Int32Array(internSlots)
  }

  /** Restarts with another text; keeps its allocations. */
  reset(text: string, limits: ScanLimits): void {
    this.#text = text
    this.#limits = limits
    this.problem = undefined
    this.#at = this.#keys = this.#depth = 0
    this.#stringAt = -1
    this.#wantsKey = false
    this.#sets.length = 0
  }

  /** Runs for up to this many steps. True when it is done, with or without a problem. */
  run(steps = Number.POSITIVE_INFINITY): boolean {
    const text = this.#text
    const { length } = text
    this.#steps = steps
    if (this.#stringAt !== -1 && !this.#string()) return this.problem !== undefined
    let at = this.#at
    let structural = 0
    while (at < length) {
      const code = text.charCodeAt(at)
      if (code === quoteMark) {
        this.#stringAt = at
        this.#from = at + 1
        if (!this.#string()) break
        at = this.#at
      } else {
        at++
        if (code === comma) this.#comma(at)
        else if (code === openObject || code === openList) {
          if (!this.#open(code)) break
        } else if (code === closeObject || code === closeList) this.#close()
        else structural++
        if (--this.#steps <= 0) break
      }
    }
    this.#at = at
    this.#structure += structural * cost.structural
    this.#weighed += structural
    this.#judgeWork()
    return this.problem !== undefined || (at >= length && this.#stringAt === -1)
  }

  #judgeWork(): void {
    const { work } = this.#limits
    if (work === undefined) return
    const { total, structure } = work
    if (this.#structure > structure || this.#structure + this.#characters > total) {
      this.problem ??= { kind: 'too_much_work' }
    }
  }

  #comma(behind: number): void {
    this.#structure += cost.separator
    this.#wantsKey = this.#isObject[this.#depth]!
    this.#entry[this.#depth]!++
    if (this.#limits.work !== undefined && this.#depth > 0) this.#mayCut(behind)
  }

  #mayCut(behind: number): void {
    // The cost of single characters is added when a run ends.
    const others = (behind - this.#weighed) * cost.structural
    const work = this.#structure + this.#characters + others
    if (work - this.#cutWork < (this.#limits.partWork ?? partWork)) return
    this.#cutWork = work
    const open: Cut['open'] = []
    for (let depth = 1; depth <= this.#depth; depth++) {
      open.push({ isList: !this.#isObject[depth]!, key: this.#innerKey(depth) })
    }
    this.cuts.push({ comma: behind - 1, kept: this.#minDepth, open })
    this.#minDepth = this.#depth
  }

  /** Under which name an open object has what is open in it. */
  #innerKey(depth: number): string {
    if (depth === this.#depth || !this.#isObject[depth]) return ''
    const key = this.#firstKey[depth + 1]! - 1
    // In what is no JSON there may be none.
    if (key < this.#firstKey[depth]!) return ''
    return this.#nameAt(this.#keyFrom[key]!, this.#keyTo[key]!)
  }

  #open(code: number): boolean {
    this.#structure += cost.container
    const depth = ++this.#depth
    if (depth > this.#limits.depth) {
      this.problem = { kind: 'too_deep' }
      return false
    }
    this.#isObject[depth] = this.#wantsKey = code === openObject
    this.#firstKey[depth] = this.#keys
    this.#entry[depth] = 0
    return true
  }

  #close(): void {
    if (this.#depth === 0) return
    this.#keys = this.#firstKey[this.#depth]!
    this.#sets[this.#depth] = undefined
    this.#depth--
    this.#wantsKey = false
    if (this.#depth < this.#minDepth) this.#minDepth = this.#depth
  }

  /** Scans the open string. False when it has to pause, or exceeds a limit. */
  #string(): boolean {
    const start = this.#stringAt + 1
    const end = this.#limits.work === undefined ? endOfString(this.#text, start - 1) : this.#end()
    if (end === -1) return false
    this.#stringAt = -1
    this.#at = end + 1
    if (this.#limits.work !== undefined) this.#weigh(start, end)
    if (!this.#wantsKey) {
      if (end - start > longString && this.#limits.work !== undefined)
        this.long.push({ start, end })
      return true
    }
    this.#wantsKey = false
    this.#key(start, end)
    return this.problem === undefined
  }

  /** End of the string, counting escapes; -1 when out of steps or over the work limit. */
  #end(): number {
    const text = this.#text
    let quote = text.indexOf('"', this.#from)
    for (;;) {
      if (this.#nextSlash < this.#from) {
        const slash = text.indexOf('\\', this.#from)
        this.#nextSlash = slash === -1 ? text.length : slash
      }
      if (quote === -1) return text.length
      if (quote < this.#nextSlash) return quote
      this.#characters += this.#nextSlash === this.#afterEscape ? cost.escape : cost.loneEscape
      this.#from = this.#afterEscape = this.#nextSlash + 2
      if (quote < this.#from) quote = text.indexOf('"', this.#from)
      if (--this.#steps <= 0) return -1
    }
  }

  #weigh(start: number, end: number): void {
    const length = end - start
    this.#weighed += length
    this.#characters += length * cost.character
    const isNew = length <= maxInterned && !this.#isInterned(start, end)
    if (this.#wantsKey) this.#structure += isNew ? cost.newKey : cost.key
    else this.#structure += isNew ? cost.newString : cost.string
  }

  /** By hash: a collision is an error that does not matter here. */
  #isInterned(start: number, end: number): boolean {
    let hash = 0x811c9dc5
    for (let at = start; at < end; at++) {
      hash = Math.imul(hash ^ this.#text.charCodeAt(at), 0x01000193)
    }
    const slot = (hash ^ (hash >>> 15)) & (internSlots - 1)
    if (this.#interned![slot] === hash) return true
    this.#interned![slot] = hash
    return false
  }

  #key(start: number, end: number): void {
    if (this.#isPrototypeKey(start, end)) this.problem = { kind: 'prototype_key' }
    else if (this.#isRepeated(start, end)) {
      this.problem = { kind: 'key_twice', path: this.#path(this.#nameAt(start, end)) }
    }
    this.#keyFrom[this.#keys] = start
    this.#keyTo[this.#keys++] = end
  }

  #isRepeated(start: number, end: number): boolean {
    const depth = this.#depth
    const first = this.#firstKey[depth]!
    const set = this.#sets[depth]
    if (set !== undefined) {
      const name = this.#nameAt(start, end)
      const size = set.size
      return set.add(name).size === size
    }
    if (this.#keys - first >= fewKeys || this.#hasEscape(start, end)) {
      return this.#isRepeatedInSet(start, end)
    }
    for (let key = first; key < this.#keys; key++) {
      const from = this.#keyFrom[key]!
      if (this.#keyTo[key]! - from === end - start && this.#isSame(from, start, end)) return true
    }
    return false
  }

  #isSame(from: number, start: number, end: number): boolean {
    const text = this.#text
    for (let at = start; at < end; at++) {
      if (text.charCodeAt(at) !== text.charCodeAt(from + at - start)) return false
    }
    return true
  }

  #isRepeatedInSet(start: number, end: number): boolean {
    const set = new Set<string>()
    for (let key = this.#firstKey[this.#depth]!; key < this.#keys; key++) {
      set.add(this.#nameAt(this.#keyFrom[key]!, this.#keyTo[key]!))
    }
    this.#sets[this.#depth] = set
    const size = set.size
    return set.add(this.#nameAt(start, end)).size === size
  }

  #hasEscape(start: number, end: number): boolean {
    const text = this.#text
    for (let at = start; at < end; at++) if (text.charCodeAt(at) === backslash) return true
    return false
  }

  /** `mod\u0065l` is `model`. */
  #nameAt(start: number, end: number): string {
    const spelled = this.#text.slice(start, end)
    if (!spelled.includes('\\')) return spelled
    try {
      return JSON.parse(`"${spelled}"`)
    } catch {
      return spelled
    }
  }

  /** `__proto__`, or `prototype` inside of `constructor`. */
  #isPrototypeKey(start: number, end: number): boolean {
    const length = end - start
    const last = this.#text.charCodeAt(end - 1)
    // Most keys are neither of this length nor spelled with escapes.
    const maybe = length === 9 && (last === 0x5f || last === 0x65)
    if (!maybe && !(length > 9 && this.#hasEscape(start, end))) return false
    const name = this.#nameAt(start, end)
    if (name === '__proto__') return true
    return name === 'prototype' && this.#holder() === 'constructor'
  }

  /** The key whose value is the innermost object. */
  #holder(): string | undefined {
    const key = this.#firstKey[this.#depth]! - 1
    if (this.#depth < 2 || !this.#isObject[this.#depth - 1]) return undefined
    return this.#nameAt(this.#keyFrom[key]!, this.#keyTo[key]!)
  }

  #path(name: string): string {
    let path = ''
    for (let depth = 1; depth < this.#depth; depth++) {
      if (!this.#isObject[depth]) path += `[${this.#entry[depth]}]`
      else {
        const key = this.#firstKey[depth + 1]! - 1
        path += `.${this.#nameAt(this.#keyFrom[key]!, this.#keyTo[key]!)}`
      }
    }
    return `${path}.${name}`.replace(/^\./, '').slice(0, maxPath)
  }
}

const maxPath = 200

const shortScan = new JsonScan('', { depth: 0 })

/** Scans all of a text that is short enough. */
export function scanShort(text: string, depth: number): ScanProblem | undefined {
  shortScan.reset(text, { depth })
  shortScan.run()
  const { problem } = shortScan
  shortScan.reset('', { depth })
  return problem
}
