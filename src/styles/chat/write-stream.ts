// An answer as a chat stream: unnamed events, one chunk each, `[DONE]` at the end.

import { isObject } from '../../lib/json/parse.ts'
import { quoted } from '../../lib/json/plain-text.ts'
import type { AnswerEvent, AnswerUsage, Block, StreamWriter } from '../common/answer.ts'
import type { Json } from '../common/conversation.ts'
import type { Seal } from '../common/envelope.ts'
import type { WriteContext } from '../common/style.ts'
import { extraContent } from './call-seal.ts'
import { writeUsage } from './usage.ts'
import {
  finishReason,
  headOf,
  reasoningDetail,
  showsReasoning,
  writeCitation,
} from './write-answer.ts'

type Stop = Extract<AnswerEvent, { type: 'stop' }>

export class ChatWriter implements StreamWriter {
  readonly #context: WriteContext
  /** A chunk up to its delta, and behind the delta of one that is not the last. */
  readonly #start: string
  readonly #end: string
  readonly #head: string
  readonly #wantsUsage: boolean
  readonly #showsReasoning: boolean
  #block: Block | undefined
  /** The first piece of the open call: clients take its seal from there and from nowhere else. */
  #opening: object | undefined
  /** Calls are counted by themselves, from 0. */
  #call = -1
  #hasRefusal = false
  #stop: Stop | undefined
  #usage: AnswerUsage | undefined

  constructor(context: WriteContext) {
    const { stream_options: options } = context.fields
    this.#context = context
    this.#wantsUsage = isObject(options) && options['include_usage'] === true
    this.#showsReasoning = showsReasoning(context)
    this.#head = JSON.stringify(headOf(context, 'chat.completion.chunk')).slice(0, -1)
    this.#start = `data: ${this.#head},"choices":[{"index":0,"delta":`
    this.#end = this.#endWith('null')
  }

  write(event: AnswerEvent): string {
    switch (event.type) {
      case 'begin':
        return this.#chunk('{"role":"assistant","content":""}')
      case 'open':
        return this.#open(event.block)
      case 'text':
        return this.#text(event.text)
      case 'input':
        return this.#input(event.text)
      case 'seal':
        return this.#seal(event.seal)
      case 'cite':
        return this.#delta({ annotations: [writeCitation(event.citation)] })
      case 'close':
        return this.#opened()
      case 'stop':
        this.#stop = event
        return ''
      case 'usage':
        this.#usage = event.usage
        return ''
      default:
        return ''
    }
  }

  #chunk(delta: string): string {
    return `${this.#start}${delta}${this.#end}`
  }

  /** `reason` in JSON. */
  #endWith(reason: string): string {
    const usage = this.#wantsUsage ? ',"usage":null' : ''
    return `,"logprobs":null,"finish_reason":${reason}}]${usage}}\n\n`
  }

  #delta(delta: object): string {
    return this.#chunk(JSON.stringify(delta))
  }

  #open(block: Block): string {
    this.#block = block
    if (block.kind === 'refusal') this.#hasRefusal = true
    if (block.kind !== 'call') return ''
    const { id, name, freeForm } = block.call
    const index = ++this.#call
    this.#opening = freeForm
      ? { index, id, type: 'custom', custom: { name, input: '' } }
      : { index, id, type: 'function', function: { name, arguments: '' } }
    return ''
  }

  #opened(): string {
    if (this.#opening === undefined) return ''
    const call = this.#opening
    this.#opening = undefined
    return this.#delta({ tool_calls: [call] })
  }

  #text(text: string): string {
    const kind = this.#block?.kind
    if (kind === 'reasoning') {
      return this.#showsReasoning ? this.#chunk(`{"reasoning_content":${quoted(text)}}`) : ''
    }
    const field = kind === 'refusal' ? 'refusal' : 'content'
    return this.#chunk(`{"${field}":${quoted(text)}}`)
  }

  #input(text: string, extra?: Json): string {
    const isFree = this.#block?.kind === 'call' && this.#block.call.freeForm
    const piece = quoted(text)
    const made = isFree ? `"custom":{"input":${piece}}` : `"function":{"arguments":${piece}}`
    const more = extra === undefined ? '' : `,${JSON.stringify(extra).slice(1, -1)}`
    return this.#opened() + this.#chunk(`{"tool_calls":[{"index":${this.#call},${made}${more}}]}`)
  }

  #seal(seal: Seal): string {
    const { envelopes, conversation } = this.#context
    if (this.#block?.kind === 'call') {
      const extra = extraContent(envelopes.wrap(seal))
      if (this.#opening === undefined) return this.#input('', extra)
      this.#opening = { ...this.#opening, ...extra }
      return ''
    }
    if (this.#block?.kind !== 'reasoning' || !conversation.wantsSeals) return ''
    return this.#delta({ reasoning_details: [reasoningDetail(envelopes.wrap(seal))] })
  }

  keepAlive(): string {
    return ': ping\n\n'
  }

  end(): string {
    if (this.#stop === undefined) return ''
    const { reason, explanation } = this.#stop
    const isGiven = this.#hasRefusal || explanation === undefined
    const refusal = isGiven ? '' : this.#delta({ refusal: explanation })
    const word = JSON.stringify(finishReason(reason, this.#hasRefusal))
    const finish = `${this.#start}{}${this.#endWith(word)}`
    return `${refusal}${finish}${this.#usageChunk()}data: [DONE]\n\n`
  }

  #usageChunk(): string {
    if (!this.#wantsUsage || this.#usage === undefined) return ''
    const usage = JSON.stringify(writeUsage(this.#usage))
    return `data: ${this.#head},"choices":[],"usage":${usage}}\n\n`
  }
}
