// An answer of Converse as events: blocks one after the other, the reason to stop, then the usage.
import { isObject } from '../../lib/json/parse.ts'
import type { Emit, StopReason, StreamReader } from '../common/answer.ts'
import { AnswerSequence, callIdOf, reportedError } from '../common/answer-sequence.ts'
import { answerUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import type { ReadContext } from '../common/style.ts'
import { readUsage } from './usage.ts'

const reasons: ReadonlyMap<unknown, StopReason> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filtered', 'filtered'],
  ['guardrail_intervened', 'filtered'],
])

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export class ConverseReader implements StreamReader {
  readonly #out = new AnswerSequence()
  readonly #context: ReadContext
  #reason: unknown
  #usage: unknown
  #thinking = ''
  #signature = ''
  /** The open block is the answer itself, as the input of a tool. */
  #isAnswer = false

  constructor(context: ReadContext) {
    this.#context = context
  }

  read(data: Json, name: string | undefined, emit: Emit): void {
    this.#out.emit = emit
    if (this.#out.isOver) return
    const { type = name, start, delta } = data
    switch (type) {
      case 'messageStart':
        this.#out.begin()
        break
      case 'contentBlockStart':
        this.#close()
        if (isObject(start) && isObject(start['toolUse'])) this.#call(start['toolUse'])
        break
      case 'contentBlockDelta':
        if (isObject(delta)) this.#grow(delta)
        break
      case 'contentBlockStop':
        this.#close()
        break
      case 'messageStop':
        this.#reason = data['stopReason']
        break
      case 'metadata':
        this.#usage = data['usage']
        break
      case 'error':
        this.#out.fail(reportedError(data['error'] ?? data))
    }
  }

  #grow({ text, toolUse, reasoningContent: reasoning, ...rest }: Json): void {
    if (typeof text === 'string') this.#out.text('text', text)
    else if (isObject(toolUse)) this.#input(toolUse['input'])
    else if (isObject(reasoning)) this.#think(reasoning)
    else if (rest['citation'] === undefined) this.#out.lost('content')
  }

  #think(reasoning: Json): void {
    const { reasoningText, redactedContent } = reasoning
    if (typeof redactedContent === 'string') {
      this.#out.open({ kind: 'reasoning', redacted: true })
      const { realm } = this.#context
      this.#out.seal({ realm, data: redactedContent, redacted: true })
      this.#out.close()
      return
    }
    const { text, signature } = isObject(reasoningText) ? reasoningText : reasoning
    this.#thinking += textOf(text)
    this.#out.text('reasoning', textOf(text))
    this.#signature += textOf(signature)
  }

  #call({ toolUseId, name }: Json): void {
    const { names } = this.#context
    const sent = textOf(name)
    this.#isAnswer = sent !== '' && sent === names.answerTool
    if (this.#isAnswer) return
    const id = textOf(toolUseId) || callIdOf('', this.#out.nextIndex)
    this.#out.openCall({ id, ...names.original(sent) })
  }

  #input(given: unknown): void {
    const text = typeof given === 'string' ? given : given == null ? '' : JSON.stringify(given)
    if (text === '') return
    if (this.#isAnswer) this.#out.text('text', text)
    else if (this.#out.block?.kind === 'call') this.#out.input(text)
    else this.#out.lost('tool_arguments')
  }

  #close(): void {
    const { realm } = this.#context
    if (this.#signature !== '') {
      if (this.#out.block?.kind !== 'reasoning') this.#out.open({ kind: 'reasoning' })
      this.#out.seal({ realm, data: this.#signature, text: this.#thinking })
    }
    this.#out.close()
    this.#thinking = this.#signature = ''
    this.#isAnswer = false
  }

  end(emit: Emit): void {
    this.#out.emit = emit
    if (this.#out.isOver) return
    this.#close()
    const usage = answerUsage(readUsage(this.#usage))
    if (this.#reason == null) this.#out.finishVaguely(usage)
    else this.#out.finish({ reason: reasons.get(this.#reason) }, usage)
  }

  /** A whole answer. */
  answer({ output, stopReason, usage }: Json, emit: Emit): void {
    const message = isObject(output) ? output['message'] : undefined
    const content = isObject(message) ? message['content'] : undefined
    const read = (data: Json) => this.read(data, undefined, emit)
    read({ type: 'messageStart' })
    for (const block of Array.isArray(content) ? content.filter(isObject) : []) {
      const { toolUse } = block
      read({ type: 'contentBlockStart', start: block })
      read({ type: 'contentBlockDelta', delta: isObject(toolUse) ? { toolUse } : block })
      read({ type: 'contentBlockStop' })
    }
    read({ type: 'messageStop', stopReason })
    read({ type: 'metadata', usage })
    this.end(emit)
  }
}
