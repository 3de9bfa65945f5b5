// A messages stream as events: named events, blocks one after the other.
import { isObject } from '../../lib/json/parse.ts'
import type { Citation, Emit, StopReason, StreamReader } from '../common/answer.ts'
import { AnswerSequence, callIdOf, reportedError } from '../common/answer-sequence.ts'
import { answerUsage, mergeUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import { present } from '../common/request-reading.ts'
import type { ReadContext } from '../common/style.ts'
import { readUsage } from './usage.ts'

const reasons: ReadonlyMap<unknown, StopReason> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refusal'],
])

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export class MessagesReader implements StreamReader {
  readonly #out = new AnswerSequence()
  readonly #context: ReadContext
  #usage: unknown
  #delta: Json = {}
  /** The type of the open block. */
  #type = ''
  /** The open block of reasoning, which its seal is for. */
  #thinking = ''
  #signature = ''
  #answerId = ''
  /** The input that the open call began with, if no other follows. */
  #givenInput: unknown
  /** The open block is the answer itself, as the input of a tool. */
  #isAnswer = false

  constructor(context: ReadContext) {
    this.#context = context
  }

  read(data: Json, name: string | undefined, emit: Emit): void {
    this.#out.emit = emit
    if (this.#out.isOver) return
    const { type = data['error'] === undefined ? name : 'error' } = data
    switch (type) {
      case 'message_start':
        this.#out.begin()
        if (isObject(data['message'])) this.#begin(data['message'])
        break
      case 'content_block_start':
        if (isObject(data['content_block'])) this.#start(data['content_block'])
        break
      case 'content_block_delta':
        if (isObject(data['delta'])) this.#grow(data['delta'])
        break
      case 'content_block_stop':
        this.#close()
        break
      case 'message_delta':
        this.#end(data)
        break
      case 'error':
        this.#out.fail(reportedError(data['error'] ?? data))
    }
  }

  #end({ delta, usage }: Json): void {
    this.#usage = mergeUsage(this.#usage, usage)
    if (isObject(delta)) this.#delta = { ...this.#delta, ...delta }
  }

  #start(block: Json): void {
    this.#close()
    this.#out.begin()
    this.#type = textOf(block['type'])
    switch (this.#type) {
      case 'text':
        this.#out.text('text', textOf(block['text']))
        this.#cite(block['citations'])
        break
      case 'thinking':
        this.#think(textOf(block['thinking']))
        this.#signature = textOf(block['signature'])
        break
      case 'redacted_thinking':
        this.#redacted(textOf(block['data']))
        break
      case 'tool_use':
        this.#call(block)
        break
      default:
        this.#out.lost('content')
    }
  }

  #think(text: string): void {
    this.#thinking += text
    this.#out.text('reasoning', text)
  }

  #redacted(data: string): void {
    this.#out.open({ kind: 'reasoning', redacted: true })
    this.#out.seal({ realm: this.#context.realm, data, redacted: true })
    this.#out.close()
  }

  #begin({ id, usage }: Json): void {
    this.#answerId = textOf(id)
    this.#usage = mergeUsage(this.#usage, usage)
  }

  #call({ id, name, input }: Json): void {
    const { names } = this.#context
    const sent = textOf(name)
    this.#givenInput = input
    this.#isAnswer = sent !== '' && sent === names.answerTool
    if (this.#isAnswer) return
    const callId = textOf(id) || callIdOf(this.#answerId, this.#out.nextIndex)
    this.#out.openCall({ id: callId, ...names.original(sent) })
  }

  #grow(delta: Json): void {
    switch (delta['type']) {
      case 'text_delta':
        this.#out.text('text', textOf(delta['text']))
        break
      case 'thinking_delta':
        this.#think(textOf(delta['thinking']))
        break
      case 'signature_delta':
        this.#signature = textOf(delta['signature'])
        break
      case 'input_json_delta':
        this.#input(textOf(delta['partial_json']))
        break
      case 'citations_delta':
        this.#cite([delta['citation']])
    }
  }

  #input(text: string): void {
    if (text === '') return
    this.#givenInput = undefined
    if (this.#isAnswer) this.#out.text('text', text)
    else if (this.#out.block?.kind === 'call') this.#out.input(text)
    else if (this.#type === 'tool_use' || this.#type === '') this.#out.lost('tool_arguments')
  }

  #cite(citations: unknown): void {
    if (!Array.isArray(citations) || this.#out.block?.kind !== 'text') return
    for (const each of citations.flatMap(citationOf)) this.#out.cite(each)
  }

  /** A seal without text is kept: the upstream was asked to hide its reasoning. */
  #close(): void {
    const { realm } = this.#context
    if (this.#type === 'thinking' && this.#signature !== '') {
      if (this.#out.block?.kind !== 'reasoning') this.#out.open({ kind: 'reasoning' })
      this.#out.seal({ realm, data: this.#signature, text: this.#thinking })
    }
    if (this.#type === 'tool_use') this.#input(inputText(this.#givenInput))
    this.#out.close()
    this.#type = this.#thinking = this.#signature = ''
    this.#givenInput = undefined
    this.#isAnswer = false
  }

  end(emit: Emit): void {
    this.#out.emit = emit
    if (this.#out.isOver) return
    const { stop_reason: word, stop_sequence: sequence, stop_details: details } = this.#delta
    this.#close()
    const usage = answerUsage(readUsage(this.#usage))
    if (word == null) {
      this.#out.finishVaguely(usage)
      return
    }
    const explanation = isObject(details) ? textOf(details['explanation']) : ''
    this.#out.finish(
      {
        reason: reasons.get(word),
        sequence: typeof sequence === 'string' ? sequence : undefined,
        explanation: explanation || undefined,
      },
      usage,
    )
  }

  /** A whole answer. */
  answer(answer: Json, emit: Emit): void {
    const { content, usage, error, ...rest } = answer
    if (rest['type'] === 'error' || isObject(error)) {
      this.read({ type: 'error', error }, undefined, emit)
      return
    }
    this.read({ type: 'message_start', message: { id: rest['id'], usage } }, undefined, emit)
    for (const block of Array.isArray(content) ? content : []) {
      this.read({ type: 'content_block_start', content_block: block }, undefined, emit)
      this.read({ type: 'content_block_stop' }, undefined, emit)
    }
    this.read({ type: 'message_delta', delta: rest }, undefined, emit)
    this.end(emit)
  }
}

/** An object, or what the upstream has put in its place. */
const inputText = (input: unknown): string =>
  typeof input === 'string' ? input : input == null ? '' : JSON.stringify(input)

/** Places in documents that the caller sent have no URL and are left out. */
function citationOf(citation: unknown): Citation[] {
  if (!isObject(citation)) return []
  const { url = citation['source'], title, cited_text: quote } = citation
  if (typeof url !== 'string') return []
  return [
    {
      url,
      ...present({
        title: typeof title === 'string' ? title : undefined,
        quote: typeof quote === 'string' ? quote : undefined,
      }),
    },
  ]
}
