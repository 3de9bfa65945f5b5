// Turns in the order that strict upstreams want: neighbours of one role merged, every call answered in
// the turn after it, and instructions between turns moved into one of the user.
import type { Refusal } from '../../contract/errors.ts'
import type {
  Conversation,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from './conversation.ts'
import { notCarried } from './losses.ts'

/** Neighbours of one role as one turn; without empty texts, and without turns that have nothing. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = []
  for (const { role, parts } of turns) {
    const last = merged.at(-1)
    const isSame = last?.role === role
    const kept = isSame ? last.parts : []
    for (const part of parts) if (part.type !== 'text' || part.text !== '') kept.push(part)
    if (!isSame && kept.length > 0) merged.push({ role, parts: kept })
  }
  return merged
}

/** For upstreams that need a turn of the user: instructions without any turn are it. */
export const withUserTurn = (conversation: Conversation): Conversation =>
  conversation.turns.length > 0 || conversation.system.length === 0
    ? conversation
    : { ...conversation, system: [], turns: [{ role: 'user', parts: conversation.system }] }

/** Of a conversation that has nothing to send. */
export const emptyRefusal = ({ fieldNames }: Pick<Conversation, 'fieldNames'>): Refusal =>
  notCarried(fieldNames.turns, 'it has no content that can be sent')

const isCall = (part: Part): part is ToolCallPart => part.type === 'call'
const isResult = (part: Part): part is ToolResultPart => part.type === 'result'

interface Repaired {
  turns: Turn[]
  /** A result was added, or one of several for a call was left out. */
  changed: boolean
}

/** What an upstream gets as the result of a call that the caller gave none for. */
const noResult = 'no result was given'

/**
 * Every call is followed by its result in the next turn, in the order of the calls. Moves results,
 * adds one where a call has none and the conversation goes on, and keeps the last of several. Call
 * ids that were used before get a number, because upstreams count calls per turn.
 */
export function repairCalls({ turns, fieldNames }: Conversation): Repaired | Refusal {
  if (isInOrder(turns)) return { turns: [...turns], changed: false }
  const repair = new Repair(turns)
  for (const [at, turn] of turns.entries()) {
    const hasCalls = turn.parts.some(isCall)
    if (hasCalls && at === turns.length - 1) {
      return notCarried(fieldNames.turns, 'its last turn has a tool call without a result')
    }
    repair.add(at, turn, hasCalls)
  }
  const orphan = repair.orphan
  if (orphan !== undefined) {
    const why = `it has a result for a call '${orphan.callId.slice(0, 64)}' that no turn before it has`
    return notCarried(fieldNames.turns, why)
  }
  return { turns: mergeTurns(repair.turns), changed: repair.changed }
}

/** As nearly every conversation is: nothing has to be moved. */
function isInOrder(turns: readonly Turn[]): boolean {
  const ids = new Set<string>()
  let expected: string[] = []
  for (const { parts } of turns) {
    const calls: string[] = []
    let results = 0
    for (const part of parts) {
      if (part.type === 'result') {
        if (part.callId !== expected[results++]) return false
      } else if (part.type === 'call') {
        if (ids.has(part.id)) return false
        ids.add(part.id)
        calls.push(part.id)
      } else if (results < expected.length) return false
    }
    if (results < expected.length) return false
    expected = calls
  }
  return expected.length === 0
}

interface Placed {
  at: number
  part: ToolResultPart
}

/** The calls and results of one id, in order; those before the positions are done with. */
interface SameId {
  calls: number[]
  callAt: number
  results: Placed[]
  resultAt: number
}

class Repair {
  readonly turns: Turn[] = []
  changed = false
  readonly #given: readonly Turn[]
  readonly #byId = new Map<string, SameId>()
  readonly #used = new Set<ToolResultPart>()
  /** By id: how often it was used. */
  readonly #ids = new Map<string, number>()

  constructor(turns: readonly Turn[]) {
    this.#given = turns
    for (const [at, { parts }] of turns.entries()) {
      for (const part of parts) {
        if (isCall(part)) this.#of(part.id).calls.push(at)
        else if (isResult(part)) this.#of(part.callId).results.push({ at, part })
      }
    }
  }

  #of(id: string): SameId {
    const known = this.#byId.get(id)
    if (known !== undefined) return known
    const same: SameId = { calls: [], callAt: 0, results: [], resultAt: 0 }
    this.#byId.set(id, same)
    return same
  }

  get orphan(): ToolResultPart | undefined {
    for (const { parts } of this.#given) {
      const found = parts.find((part) => isResult(part) && !this.#used.has(part))
      if (found !== undefined) return found as ToolResultPart
    }
    return undefined
  }

  add(at: number, { role, parts }: Turn, hasCalls: boolean): void {
    const rest = parts.filter((part) => !isResult(part))
    if (!hasCalls) {
      if (rest.length > 0) this.turns.push({ role, parts: rest })
      return
    }
    const results: Part[] = []
    const numbered = rest.map((part) => {
      if (!isCall(part)) return part
      const id = this.#newId(part.id)
      const result = this.#resultOf(part, at)
      results.push(id === part.id ? result : { ...result, callId: id })
      return id === part.id ? part : { ...part, id }
    })
    this.turns.push({ role, parts: numbered }, { role: 'user', parts: results })
  }

  #newId(id: string): string {
    let uses = (this.#ids.get(id) ?? 0) + 1
    let free = uses === 1 ? id : `${id}_${uses}`
    while (free !== id && this.#ids.has(free)) free = `${id}_${++uses}`
    this.#ids.set(id, uses)
    if (free !== id) this.#ids.set(free, 1)
    return free
  }

  /** The last result after the call and before another call of the same id. */
  #resultOf({ id, name }: ToolCallPart, at: number): ToolResultPart {
    const same = this.#of(id)
    while (same.callAt < same.calls.length && same.calls[same.callAt]! <= at) same.callAt++
    const next = same.calls[same.callAt] ?? this.#given.length
    let found: ToolResultPart | undefined
    let count = 0
    for (let each = same.results[same.resultAt]; each !== undefined; ) {
      if (each.at > next) break
      if (each.at > at) {
        found = each.part
        count++
        this.#used.add(found)
      }
      each = same.results[++same.resultAt]
    }
    if (count !== 1) this.changed = true
    const parts: TextPart[] = [{ type: 'text', text: noResult }]
    return found ?? { type: 'result', callId: id, name, parts, isError: true, isMade: true }
  }
}

/**
 * Instructions between turns as text of the user, after the tool results of the turn that follows:
 * never before turns that they were not given for.
 */
export function foldInstructions(turns: readonly Turn[]): Repaired {
  if (!turns.some(({ role }) => role === 'system')) return { turns: [...turns], changed: false }
  const folded: Turn[] = []
  let waiting: Part[] = []
  for (const { role, parts } of turns) {
    if (role === 'system') for (const part of parts) waiting.push(asText(part))
    else if (waiting.length === 0) folded.push({ role, parts })
    else {
      if (role === 'user') {
        const results = parts.filter(isResult)
        const rest = parts.filter((part) => !isResult(part))
        folded.push({ role, parts: [...results, ...waiting, ...rest] })
      } else folded.push({ role: 'user', parts: waiting }, { role, parts })
      waiting = []
    }
  }
  if (waiting.length > 0) folded.push({ role: 'user', parts: waiting })
  return { turns: mergeTurns(folded), changed: true }
}

const asText = (part: Part): Part =>
  part.type === 'text' ? { ...part, text: `<system>\n${part.text}\n</system>` } : part
