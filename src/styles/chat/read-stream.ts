// A chat stream as events: chunks with deltas, a finish reason, and usage in any of them.
import { isObject } from '../../lib/json/parse.ts'
import type { Citation, Emit, StopReason, StreamReader } from '../common/answer.ts'
import { AnswerSequence, reportedError } from '../common/answer-sequence.ts'
import { answerUsage, mergeUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import { plainSeal, type Seal } from '../common/envelope.ts'
import { present } from '../common/request-reading.ts'
import type { ReadContext } from '../common/style.ts'
import { signatureOf } from './call-seal.ts'
import { Lanes } from './lanes.ts'
import { readUsage } from './usage.ts'

const reasons: ReadonlyMap<unknown, StopReason> = new Map([
  ['stop', 'end'],
  ['tool_calls', 'calls'],
  ['function_call', 'calls'],
  ['length', 'length'],
  ['content_filter', 'filtered'],
])

export class ChatReader implements StreamReader {
  readonly #out = new AnswerSequence()
  readonly #realm: string
  readonly #lanes: Lanes
  #reason: unknown
  #usage: unknown
  #details: unknown[] = []

  constructor({ names, realm }: ReadContext) {
    this.#realm = realm
    this.#lanes = new Lanes(this.#out, names)
  }

  read(data: Json, _name: string | undefined, emit: Emit): void {
    const out = this.#out
    out.emit = emit
    if (out.isOver) return
    const { id, created, error, usage, choices } = data
    if (error != null && error !== '') {
      out.fail(reportedError(error))
      return
    }
    this.#usage = mergeUsage(this.#usage, usage)
    if (!Array.isArray(choices)) return
    out.begin()
    if (this.#lanes.answerId === '') this.#lanes.answerId = `${id} ${created}`
    for (const choice of choices) if (isObject(choice)) this.#choice(choice)
  }

  #choice({ index, delta, finish_reason: reason }: Json): void {
    if (typeof index === 'number' && index > 0) {
      this.#out.lost('choices')
      return
    }
    if (isObject(delta)) this.delta(delta)
    if (reason != null && reason !== '') this.#reason = reason
  }

  /** A part of the message, or all of it. */
  delta(delta: Json): void {
    const { reasoning_content: reasoning, reasoning: other, reasoning_details: details } = delta
    this.#texts('reasoning', isEmpty(reasoning) ? other : reasoning)
    if (Array.isArray(details)) for (const each of details) this.#keep(each)
    this.#texts('text', delta['content'])
    this.#cite(delta['annotations'])
    this.#texts('refusal', delta['refusal'])
    const { tool_calls: calls, function_call: legacy } = delta
    if (Array.isArray(calls)) for (const call of calls) if (isObject(call)) this.#call(call)
    if (isObject(legacy)) this.#call({ index: -1, function: legacy })
  }

  /** Other details repeat the text. */
  #keep(detail: unknown): void {
    if (isObject(detail) && typeof detail['data'] === 'string') this.#details.push(detail)
  }

  #cite(annotations: unknown): void {
    if (!Array.isArray(annotations) || this.#out.block?.kind !== 'text') return
    for (const each of annotations.flatMap(citationOf)) this.#out.cite(each)
  }

  /** A string, or a list of objects with one. */
  #texts(kind: 'text' | 'reasoning' | 'refusal', value: unknown): void {
    if (typeof value === 'string') this.#text(kind, value)
    else if (Array.isArray(value)) for (const part of value) this.#part(kind, part)
  }

  #part(kind: 'text' | 'reasoning' | 'refusal', part: unknown): void {
    if (!isObject(part)) return
    const { text, thinking, refusal } = part
    if (typeof text === 'string') this.#text(kind, text)
    else if (thinking !== undefined) this.#texts('reasoning', thinking)
    else if (typeof refusal === 'string') this.#text('refusal', refusal)
  }

  #text(kind: 'text' | 'reasoning' | 'refusal', text: string): void {
    if (text === '') return
    if (kind !== 'reasoning') this.#sealReasoning()
    this.#lanes.text(kind, text)
  }

  /** Belongs to the block that is about to close. */
  #sealReasoning(): void {
    const out = this.#out
    const isSealed = this.#details.length > 0
    if (isSealed && out.block === undefined) out.open({ kind: 'reasoning', redacted: true })
    if (out.block?.kind !== 'reasoning') return
    const data = isSealed ? JSON.stringify(this.#details) : plainSeal
    this.#details = []
    out.seal({ realm: this.#realm, data, ...(out.block.redacted && { redacted: true }) })
    this.#lanes.closeText()
  }

  #call(call: Json): void {
    const { index, id, function: named, custom } = call
    this.#sealReasoning()
    const made = isObject(named) ? named : isObject(custom) ? custom : {}
    const input = made['arguments'] ?? made['input']
    this.#lanes.call({
      index: index ?? undefined,
      id: typeof id === 'string' ? id : '',
      name: typeof made['name'] === 'string' ? made['name'] : '',
      input: typeof input === 'string' ? input : isObject(input) ? JSON.stringify(input) : '',
      ...present({ seal: this.#sealOf(call) }),
    })
  }

  #sealOf(call: Json): Seal | undefined {
    const data = signatureOf(call)
    return data === undefined ? undefined : { realm: this.#realm, data }
  }

  end(emit: Emit): void {
    const out = this.#out
    out.emit = emit
    if (out.isOver) return
    this.#sealReasoning()
    this.#lanes.end()
    const usage = answerUsage(readUsage(this.#usage))
    if (this.#reason === undefined) out.finishVaguely(usage)
    else out.finish({ reason: reasons.get(this.#reason) }, usage)
  }

  /** A whole answer. */
  answer(answer: Json, emit: Emit): void {
    const { choices, ...rest } = answer
    const deltas = Array.isArray(choices)
      ? choices.map((choice) =>
          isObject(choice) ? { ...choice, delta: indexed(choice['message']) } : choice,
        )
      : choices
    this.read({ ...rest, choices: deltas }, undefined, emit)
    this.end(emit)
  }
}

/** Calls of a whole answer have no index: their place is one. */
function indexed(message: unknown): unknown {
  if (!isObject(message) || !Array.isArray(message['tool_calls'])) return message
  const calls = message['tool_calls']
  return {
    ...message,
    tool_calls: calls.map((call, index) => (isObject(call) ? { ...call, index } : call)),
  }
}

const isEmpty = (value: unknown): boolean => value == null || value === ''

function citationOf(annotation: unknown): Citation[] {
  const cited = isObject(annotation) ? annotation['url_citation'] : undefined
  if (!isObject(cited) || typeof cited['url'] !== 'string') return []
  const { url, title, start_index: start, end_index: end } = cited
  return [
    {
      url,
      ...present({
        title: typeof title === 'string' ? title : undefined,
        start: typeof start === 'number' ? start : undefined,
        end: typeof end === 'number' ? end : undefined,
      }),
    },
  ]
}
