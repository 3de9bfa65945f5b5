// Writes an answer for a caller of the generate style: partial answers whose parts add up, the last one
// with the reason and the token counts. A whole answer has the same parts in one.
import { refusals } from '../../contract/errors.ts'
import type { UpstreamError } from '../../contract/provider.ts'
import { quoted } from '../../lib/json/plain-text.ts'
import {
  type AnswerEvent,
  type AnswerUsage,
  type Block,
  isCut,
  type StopReason,
  type StreamWriter,
} from '../common/answer.ts'
import { isJson } from '../common/answer-sequence.ts'
import type { Json } from '../common/conversation.ts'
import type { Seal } from '../common/envelope.ts'
import { inputObject } from '../common/exact-json.ts'
import { wrapInput } from '../common/free-form.ts'
import { present } from '../common/request-reading.ts'
import type { WriteContext } from '../common/style.ts'
import { Grounding } from './citations.ts'
import { writeUsage } from './usage.ts'

/** There is no other word for calls, nor for a stop sequence. */
const finishWords: Readonly<Record<StopReason, string>> = {
  end: 'STOP',
  stop_sequence: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filtered: 'SAFETY',
  refusal: 'SAFETY',
}

/** Turns events into parts; both forms of an answer are made of them. */
class PartWriter {
  readonly #context: WriteContext
  readonly #grounding = new Grounding()
  #block: Block | undefined
  /** The open block's text, or its input. */
  #text = ''
  /** Calls whose input is not JSON: whether they were cut is known at the end. */
  #broken: Json[] | undefined
  /** An envelope that goes with the next part, as this style has it. */
  #envelope: string | undefined
  #stop: Extract<AnswerEvent, { type: 'stop' }> | undefined
  #usage: AnswerUsage | undefined
  /** A partial answer behind its parts. */
  #end: string | undefined

  constructor(context: WriteContext) {
    this.#context = context
  }

  parts(event: AnswerEvent): Json[] {
    switch (event.type) {
      case 'open':
        this.#block = event.block
        this.#text = ''
        return []
      case 'text':
        this.#text += event.text
        return this.#textParts(event.text)
      case 'input':
        this.#text += event.text
        return []
      case 'seal':
        this.#envelope = this.#context.envelopes.wrap(this.#named(event.seal))
        return []
      case 'cite':
        this.#grounding.add(event.citation, this.#text)
        return []
      case 'close':
        return this.#block?.kind === 'call' ? this.#callParts(this.#block) : []
      case 'stop':
        this.#stop = event
        return this.#lastParts()
      case 'usage':
        this.#usage = event.usage
        return []
      default:
        return []
    }
  }

  /** The seal of a call names it, so that it is not taken for one of reasoning. */
  #named(seal: Seal): Seal {
    return this.#block?.kind === 'call' ? { ...seal, itemId: this.#block.call.id } : seal
  }

  #textParts(text: string): Json[] {
    if (this.#block?.kind !== 'reasoning') return [{ text, ...this.#sealed() }]
    return this.#context.conversation.showReasoning ? [{ text, thought: true }] : []
  }

  #sealed(): Json {
    const thoughtSignature = this.#envelope
    this.#envelope = undefined
    return present({ thoughtSignature })
  }

  #callParts({ call }: Extract<Block, { kind: 'call' }>): Json[] {
    const text = call.freeForm ? wrapInput(this.#text) : this.#text
    const { id, name } = call
    const part = { functionCall: { id, name, args: inputObject(text).input }, ...this.#sealed() }
    if (text === '' || isJson(text)) return [part]
    this.#broken ??= []
    this.#broken.push(part)
    return []
  }

  #lastParts(): Json[] {
    const last = this.#envelope === undefined ? [] : [{ text: '', ...this.#sealed() }]
    return this.#broken === undefined || isCut(this.#stop) ? last : [...this.#broken, ...last]
  }

  /** A partial answer, as JSON. */
  answer(parts: readonly Json[]): string {
    return this.#partial(JSON.stringify(contentOf(parts)))
  }

  /** The same of a visible text, unless more belongs to its part. */
  textAnswer(text: string): string | undefined {
    if (this.#block?.kind === 'reasoning' || this.#envelope !== undefined) return undefined
    this.#text += text
    return this.#partial(`{"parts":[{"text":${quoted(text)}}],"role":"model"}`)
  }

  #partial(content: string): string {
    this.#end ??= JSON.stringify(this.#answer({})).slice(start.length)
    return `{"candidates":[{"content":${content},"index":0${this.#end}`
  }

  /** The last one, or the whole. */
  lastAnswer(parts: readonly Json[]): Json {
    const stop = this.#stop
    const isWithheld = stop?.reason === 'filtered' || stop?.reason === 'refusal'
    return this.#answer({
      ...(parts.length > 0 && { content: contentOf(parts) }),
      finishReason: finishWords[stop?.reason ?? 'end'],
      ...present({
        finishMessage: isWithheld ? stop?.explanation : undefined,
        groundingMetadata: this.#grounding.metadata,
      }),
    })
  }

  #answer(candidate: Json): Json {
    const { id, model, createdMs } = this.#context
    return {
      candidates: [{ ...candidate, index: 0 }],
      ...(this.#usage !== undefined && { usageMetadata: writeUsage(this.#usage) }),
      modelVersion: model,
      createTime: new Date(createdMs).toISOString(),
      responseId: id,
    }
  }
}

/** An answer without content, up to what follows its candidate's index. */
const start = '{"candidates":[{"index":0'

const contentOf = (parts: readonly Json[]): Json => ({ parts, role: 'model' })

export class GenerateWriter implements StreamWriter {
  readonly #parts: PartWriter
  #waiting: Json[] = []

  constructor(context: WriteContext) {
    this.#parts = new PartWriter(context)
  }

  write(event: AnswerEvent): string {
    if (event.type === 'fail') return eventOf(errorObject(event.error))
    const text = event.type === 'text' ? this.#parts.textAnswer(event.text) : undefined
    if (text !== undefined) return `data: ${text}\n\n`
    const parts = this.#parts.parts(event)
    if (event.type === 'stop') this.#waiting = parts
    else if (parts.length > 0) return `data: ${this.#parts.answer(parts)}\n\n`
    return ''
  }

  keepAlive(): string {
    return ': keep-alive\n\n'
  }

  /** Clients forget an answer that has a part without content. */
  end(): string {
    const parts = this.#waiting.length > 0 ? this.#waiting : [{ text: '' }]
    return eventOf(this.#parts.lastAnswer(parts))
  }
}

const eventOf = (answer: Json): string => `data: ${JSON.stringify(answer)}\n\n`

export function writeAnswer(events: readonly AnswerEvent[], context: WriteContext): Json {
  const writer = new PartWriter(context)
  const parts: Json[] = []
  for (const event of events) for (const part of writer.parts(event)) addPart(parts, part)
  return writer.lastAnswer(parts)
}

/** Pieces of one text are one part. */
function addPart(parts: Json[], part: Json): void {
  const last = parts.at(-1)
  const isMore =
    typeof part['text'] === 'string' &&
    typeof last?.['text'] === 'string' &&
    part['thought'] === last['thought'] &&
    part['thoughtSignature'] === undefined
  if (isMore) parts[parts.length - 1] = { ...last, text: `${last['text']}${part['text']}` }
  else parts.push(part)
}

const statusWords: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

function errorObject({ code, message }: UpstreamError): Json {
  const { status } = refusals[code]
  return { error: { code: status, message, status: statusWords[status] ?? 'INTERNAL' } }
}
