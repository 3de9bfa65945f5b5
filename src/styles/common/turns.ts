// Turns in the order that strict upstreams want: neighbours of one role merged, every call answered in
// the turn after it, and instructions between turns moved into one of the user.
import type { Refusal } from '../../contract/errors.ts'
import type { Conversation, Part, ToolCallPart, ToolResultPart, Turn } from './conversation.ts'
import { notCarried } from './losses.ts'

/** Neighbours of one role as one turn; without empty texts, and without turns that have nothing. */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = []
  for (const { role, parts } of turns) {
    const kept = parts.filter((part) => part.type !== 'text' || part.text !== '')
    if (kept.length === 0) continue
    const last = merged.at(-1)
    if (last?.role === role) last.parts.push(...kept)
    else merged.push({ role, parts: kept })
  }
  return merged
}

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
  if (!turns.some(({ parts }) => parts.some((part) => isCall(part) || isResult(part)))) {
    return { turns: [...turns], changed: false }
  }
  const repair = new Repair(turns)
  for (const [at, turn] of turns.entries()) {
    const calls = turn.parts.filter(isCall)
    if (calls.length > 0 && at === turns.length - 1) {
      return notCarried(fieldNames.turns, 'its last turn has a tool call without a result')
    }
    repair.add(at, turn, calls)
  }
  const orphan = repair.orphan
  if (orphan !== undefined) {
    const why = `it has a result for a call '${orphan.callId.slice(0, 64)}' that no turn before it has`
    return notCarried(fieldNames.turns, why)
  }
  return { turns: mergeTurns(repair.turns), changed: repair.changed }
}

class Repair {
  readonly turns: Turn[] = []
  changed = false
  readonly #given: readonly Turn[]
  /** Results in order, by call id: the turn they stand in, and themselves. */
  readonly #results = new Map<string, { at: number; part: ToolResultPart }[]>()
  /** Turns that have a call of that id. */
  readonly #calls = new Map<string, number[]>()
  readonly #used = new Set<ToolResultPart>()
  readonly #ids = new Set<string>()

  constructor(turns: readonly Turn[]) {
    this.#given = turns
    for (const [at, { parts }] of turns.entries()) {
      for (const part of parts) {
        if (isCall(part)) listIn(this.#calls, part.id).push(at)
        else if (isResult(part)) listIn(this.#results, part.callId).push({ at, part })
      }
    }
  }

  get orphan(): ToolResultPart | undefined {
    for (const { parts } of this.#given) {
      const found = parts.find((part) => isResult(part) && !this.#used.has(part))
      if (found !== undefined) return found as ToolResultPart
    }
    return undefined
  }

  add(at: number, { role, parts }: Turn, calls: readonly ToolCallPart[]): void {
    const rest = parts.filter((part) => !isResult(part))
    if (calls.length === 0) {
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
    let free = id
    for (let n = 2; this.#ids.has(free); n++) free = `${id}_${n}`
    this.#ids.add(free)
    return free
  }

  /** The last result after the call and before another call of the same id. */
  #resultOf({ id, name }: ToolCallPart, at: number): ToolResultPart {
    const next = this.#calls.get(id)!.find((other) => other > at) ?? this.#given.length
    const found = (this.#results.get(id) ?? []).filter(
      ({ at: place, part }) => place > at && place <= next && !this.#used.has(part),
    )
    for (const { part } of found) this.#used.add(part)
    if (found.length !== 1) this.changed = true
    return (
      found.at(-1)?.part ?? {
        type: 'result',
        callId: id,
        name,
        parts: [{ type: 'text', text: noResult }],
        isError: true,
      }
    )
  }
}

function listIn<Value>(lists: Map<string, Value[]>, key: string): Value[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
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
    if (role === 'system') waiting.push(...parts.map(asText))
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
