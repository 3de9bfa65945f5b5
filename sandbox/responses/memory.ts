// Responses that were answered and may be gone on from, by their id or by that of one of their items.
// Kept for the key that made them, in memory, the newest ones only.

import { asList, asObject, invalid, isFault, type Json } from '../http/fields.ts'
import type { Fault } from '../protocol.ts'
import type { Draft, TextRequest, TextStyle } from '../text/answer-text.ts'
import type { Seals } from '../text/seals.ts'
import { type Turn, textPart } from '../text/turns.ts'
import { sealFault } from './check-seals.ts'
import { streamEvents } from './events.ts'
import { readResponsesRequest } from './request.ts'
import { strictFault } from './strict.ts'
import { choiceOf, finalResponse } from './wire.ts'

/** More than any test goes on from. */
const maxKept = 1_000

export class Memory {
  /** By key and id: all turns of a response, or the one of an item. */
  readonly #turns = new Map<string, readonly Turn[]>()
  readonly #seals: Seals

  constructor(seals: Seals) {
    this.#seals = seals
  }

  /** What a request of this key may go on from. */
  styleFor(key: string): TextStyle {
    const seals = this.#seals
    let asked: readonly Turn[] = []
    const answered = (draft: Draft) => this.#keep(key, draft, asked)
    return {
      read: (fields) => {
        const request = sealFault(fields, seals) ?? this.#read(key, fields)
        if (!isFault(request)) asked = request.turns
        return request
      },
      whole(draft) {
        answered(draft)
        return finalResponse(draft, seals)
      },
      events(draft) {
        answered(draft)
        return streamEvents(draft, seals)
      },
      keepAlive: ': keep-alive\n\n',
      strictFault,
      stateFields: ['conversation', 'prompt'],
    }
  }

  /** The same response under another id. */
  rename(key: string, from: string, to: string): void {
    const turns = this.#turns.get(`${key} ${from}`)
    if (turns !== undefined) this.#set(`${key} ${to}`, turns)
  }

  #read(key: string, fields: Json): TextRequest | Fault {
    const { previous_response_id: id, instructions, input } = fields
    const before = id == null ? [] : this.#turns.get(`${key} ${id}`)
    if (before === undefined) {
      return notFound('previous_response_id', `Previous response with id '${id}' not found.`)
    }
    const missing = asList(input).find((item) => this.#isUnknown(key, asObject(item)))
    if (missing !== undefined) {
      const message = `Item with id '${asObject(missing)['id']}' not found.`
      return notFound('input', message)
    }
    const request = readResponsesRequest(fields)
    if (isFault(request)) return request
    const [first, ...rest] = request.turns
    const hasInstructions = typeof instructions === 'string' && first !== undefined
    const own = hasInstructions ? rest : request.turns
    const named = own.map((turn, at) => this.#named(key, asObject(asList(input)[at])) ?? turn)
    return { ...request, turns: [...(hasInstructions ? [first] : []), ...before, ...named] }
  }

  /** Reasoning without its seal is known by its id only. */
  #isUnknown(key: string, item: Json): boolean {
    const { type, id, encrypted_content: seal } = item
    const isNamed = type === 'item_reference' || (type === 'reasoning' && seal == null)
    return isNamed && !this.#turns.has(`${key} ${id}`)
  }

  #named(key: string, { type, id }: Json): Turn | undefined {
    return type === 'item_reference' ? this.#turns.get(`${key} ${id}`)?.[0] : undefined
  }

  #keep(key: string, draft: Draft, asked: readonly Turn[]): void {
    if (draft.fields['store'] === false) return
    const { id, output } = finalResponse(draft, this.#seals)
    const { tokens, calls } = choiceOf(draft)
    const called = calls.flatMap(({ name, tokens }) => [name, tokens.join('')])
    const parts = [tokens.join(''), ...called].map((text) => textPart(text))
    const said: Turn = { role: 'assistant', parts, mark: 'none' }
    const talk = asked.filter(({ role }) => role !== 'system')
    this.#set(`${key} ${id}`, [...talk, said])
    for (const item of asList(output)) this.#set(`${key} ${asObject(item)['id']}`, [said])
  }

  #set(name: string, turns: readonly Turn[]): void {
    this.#turns.delete(name)
    this.#turns.set(name, turns)
    const [oldest] = this.#turns.keys()
    if (this.#turns.size > maxKept && oldest !== undefined) this.#turns.delete(oldest)
  }
}

const notFound = (param: string, message: string): Fault => ({
  ...invalid(param, message),
  status: 404,
})
