// An answer as a messages stream: blocks strictly one after the other, numbered from 0.
import { quoted } from '../../lib/json/plain-text.ts'
import type { AnswerEvent, AnswerUsage, Block, CallHead, StreamWriter } from '../common/answer.ts'
import type { Json } from '../common/conversation.ts'
import type { Seal } from '../common/envelope.ts'
import { wrapInput } from '../common/free-form.ts'
import type { WriteContext } from '../common/style.ts'
import { writeUsage } from './usage.ts'
import {
  callSeal,
  redactedBlock,
  showsReasoning,
  wrapped,
  writeCitation,
  writeStop,
} from './write-answer.ts'

const line = (type: string, data: Json): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

const noUsage: AnswerUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
}

export class MessagesWriter implements StreamWriter {
  readonly #context: WriteContext
  readonly #showsReasoning: boolean
  /** Blocks written; some blocks of the answer have none here. */
  #index = -1
  #block: Block | undefined
  /** The block's start has been written. */
  #isStarted = false
  #seal: Seal | undefined
  /** Reasoning that is not shown. */
  #hidden = ''
  /** What stands before the text of a piece, and what that depends on. */
  #pieceStart = ''
  #pieceType = ''
  #pieceIndex = -1
  #stop: Extract<AnswerEvent, { type: 'stop' }> | undefined
  #usage: AnswerUsage | undefined

  constructor(context: WriteContext) {
    this.#context = context
    this.#showsReasoning = showsReasoning(context)
  }

  write(event: AnswerEvent): string {
    switch (event.type) {
      case 'begin':
        return this.#begin()
      case 'open':
        return this.#open(event.block)
      case 'text':
        return this.#text(event.text)
      case 'input':
        return this.#input(event.text)
      case 'cite':
        return this.#delta({ type: 'citations_delta', citation: writeCitation(event.citation) })
      case 'close':
        return this.#close()
      case 'seal':
        this.#seal = event.seal
        return ''
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

  #begin(): string {
    const { id, model, inputTokens } = this.#context
    const message = {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: writeUsage({ ...noUsage, inputTokens }),
    }
    return line('message_start', { message })
  }

  #start(content_block: Json): string {
    this.#isStarted = true
    return line('content_block_start', { index: ++this.#index, content_block })
  }

  #delta(delta: Json): string {
    return line('content_block_delta', { index: this.#index, delta })
  }

  /** The same for the many events with nothing but a piece of text. */
  #piece(type: string, field: string, text: string): string {
    if (this.#pieceType !== type || this.#pieceIndex !== this.#index) {
      this.#pieceType = type
      this.#pieceIndex = this.#index
      const event = '{"type":"content_block_delta","index":'
      const delta = `,"delta":{"type":"${type}","${field}":`
      this.#pieceStart = `event: content_block_delta\ndata: ${event}${this.#index}${delta}`
    }
    return `${this.#pieceStart}${quoted(text)}}}\n\n`
  }

  #end(): string {
    this.#isStarted = false
    return line('content_block_stop', { index: this.#index })
  }

  /** Nothing is written before the block has content: this style has no empty blocks. */
  #open(block: Block): string {
    this.#block = block
    this.#isStarted = false
    this.#seal = undefined
    this.#hidden = ''
    return ''
  }

  #text(text: string): string {
    if (this.#block?.kind !== 'reasoning') {
      const start = this.#isStarted ? '' : this.#start({ type: 'text', text: '' })
      return start + this.#piece('text_delta', 'text', text)
    }
    if (this.#block.redacted) return ''
    const start = this.#startThinking()
    if (this.#showsReasoning) return start + this.#piece('thinking_delta', 'thinking', text)
    this.#hidden += text
    return start
  }

  #startThinking(): string {
    return this.#isStarted ? '' : this.#start({ type: 'thinking', thinking: '', signature: '' })
  }

  #input(text: string): string {
    if (this.#block?.kind !== 'call') return ''
    const { call } = this.#block
    const json = call.freeForm ? wrapInput(text) : text
    return this.#startCall(call) + this.#piece('input_json_delta', 'partial_json', json)
  }

  #startCall(call: CallHead): string {
    if (this.#isStarted) return ''
    const seal = this.#callSeal(call)
    const { id, name } = call
    return seal + this.#start({ type: 'tool_use', id, name, input: {} })
  }

  /** The seal of a call, as a block of its own beside it. */
  #callSeal({ id }: CallHead): string {
    const seal = this.#seal
    this.#seal = undefined
    if (seal === undefined) return ''
    const { signature = '', ...block } = callSeal(seal, id, this.#context)
    const start = this.#start({ ...block, signature: '' })
    return start + this.#delta({ type: 'signature_delta', signature }) + this.#end()
  }

  #close(): string {
    const block = this.#block
    this.#block = undefined
    if (block?.kind === 'reasoning') return this.#closeReasoning(block.redacted === true)
    if (block?.kind !== 'call') return this.#isStarted ? this.#end() : ''
    return this.#startCall(block.call) + this.#end() + this.#callSeal(block.call)
  }

  #closeReasoning(isRedacted: boolean): string {
    const seal = this.#seal
    if (isRedacted) {
      return seal ? this.#start(redactedBlock(seal, this.#context)) + this.#end() : ''
    }
    if (seal === undefined) return this.#isStarted ? this.#end() : ''
    const signature = wrapped(seal, this.#hidden, this.#context)
    return this.#startThinking() + this.#delta({ type: 'signature_delta', signature }) + this.#end()
  }

  keepAlive(): string {
    return line('ping', {})
  }

  end(): string {
    if (this.#stop === undefined) return ''
    const usage = writeUsage(this.#usage ?? { ...noUsage, inputTokens: this.#context.inputTokens })
    const delta = writeStop(this.#stop)
    return line('message_delta', { delta, usage }) + line('message_stop', {})
  }
}
