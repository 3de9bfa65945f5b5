// Reads an upstream's answer in the generate style. A stream is a sequence of partial answers; a whole
// answer is a stream with one. Nothing marks the end of a stream but the reason in its last parts.
import { isObject } from '../../lib/json/parse.ts'
import { numberIn, objectIn, objectsIn, textIn } from '../../lib/json/values.ts'
import type { Emit, StopReason, StreamReader } from '../common/answer.ts'
import { AnswerSequence, callIdOf, reportedError } from '../common/answer-sequence.ts'
import { answerUsage, mergeUsage } from '../common/answer-usage.ts'
import type { Json } from '../common/conversation.ts'
import { plainSeal } from '../common/envelope.ts'
import type { ReadContext } from '../common/style.ts'
import { citationsIn } from './citations.ts'
import { camelCased } from './field-names.ts'
import { readUsage } from './usage.ts'

const reasons: Readonly<Record<string, StopReason>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  IMAGE_SAFETY: 'filtered',
  IMAGE_PROHIBITED_CONTENT: 'filtered',
  IMAGE_RECITATION: 'filtered',
}
/** Say that it stopped, not why: an end if there is any output. */
const vague = ['OTHER', 'LANGUAGE', 'FINISH_REASON_UNSPECIFIED']

export class GenerateReader implements StreamReader {
  readonly #context: ReadContext
  readonly #sequence = new AnswerSequence()
  #reason: string | undefined
  #explanation: string | undefined
  #isBlocked = false
  #usage: unknown
  #responseId = ''
  #calls = 0
  #hasOutput = false
  /** Of the open text block. */
  #text = ''
  /** Usage so far is without meaning: each event repeats all of it. */
  readonly continued = {
    text: 'text',
    ignored: ['promptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount'],
  }
  #isThought = false

  constructor(context: ReadContext) {
    this.#context = context
    this.#sequence.ownSeal = { realm: context.realm, data: plainSeal }
  }

  /** Without server-sent events, the answers come as a list. */
  read(data: Json | readonly Json[], _: string | undefined, emit: Emit): void {
    this.#sequence.emit = emit
    for (const each of Array.isArray(data) ? data : [data]) {
      if (isObject(each)) this.#answer(camelCased(each))
    }
  }

  more(text: string, emit: Emit): void {
    this.#sequence.emit = emit
    if (this.#isThought) this.#thought(text, undefined)
    else this.#visible(text, undefined)
  }

  #answer(answer: Json): void {
    if (answer['error'] != null) {
      this.#sequence.fail(reportedError(answer['error']))
      return
    }
    this.#sequence.begin()
    this.#responseId ||= textIn(answer, 'responseId') ?? ''
    this.#usage = mergeUsage(this.#usage, answer['usageMetadata'])
    const candidate = objectsIn(answer, 'candidates').find((each) => !numberIn(each, 'index'))
    if (candidate !== undefined) this.#candidate(camelCased(candidate))
    else this.#feedback(camelCased(objectIn(answer, 'promptFeedback') ?? {}))
  }

  /** The question was refused. */
  #feedback(feedback: Json): void {
    const why = textIn(feedback, 'blockReason')
    if (why === undefined) return
    this.#isBlocked = true
    this.#explanation = textIn(feedback, 'blockReasonMessage') ?? why
  }

  #candidate(candidate: Json): void {
    for (const part of objectsIn(objectIn(candidate, 'content') ?? {}, 'parts')) {
      this.#part(camelCased(part))
    }
    if (this.#sequence.block?.kind === 'text') {
      for (const each of citationsIn(candidate, this.#text)) this.#sequence.cite(each)
    }
    this.#reason = textIn(candidate, 'finishReason') ?? this.#reason
    this.#explanation = textIn(candidate, 'finishMessage') ?? this.#explanation
  }

  #part(part: Json): void {
    const text = textIn(part, 'text') ?? ''
    const signature = textIn(part, 'thoughtSignature')
    const call = objectIn(part, 'functionCall')
    if (call !== undefined) this.#call(call, signature)
    else if (part['thought'] === true) this.#thought(text, signature)
    else if (typeof part['text'] === 'string') this.#visible(text, signature)
    else this.#other(part)
  }

  #thought(text: string, signature: string | undefined): void {
    this.#isThought = true
    this.#hasOutput ||= text !== ''
    this.#sequence.text('reasoning', text)
    if (!signature) return
    if (this.#sequence.block?.kind !== 'reasoning') this.#sequence.open({ kind: 'reasoning' })
    this.#seal(signature)
  }

  /** A seal on visible text is for the reasoning before it; without any, it is optional. */
  #visible(text: string, signature: string | undefined): void {
    this.#isThought = false
    const { block } = this.#sequence
    if (signature && block?.kind === 'reasoning') this.#seal(signature)
    if (text === '') return
    this.#hasOutput = true
    this.#text = block?.kind === 'text' ? this.#text + text : text
    this.#sequence.text('text', text)
  }

  #seal(data: string): void {
    this.#sequence.seal({ realm: this.#context.realm, data })
  }

  #call(call: Json, signature: string | undefined): void {
    const name = textIn(call, 'name') ?? ''
    const id = textIn(call, 'id') || callIdOf(this.#responseId, this.#calls)
    this.#calls++
    this.#hasOutput = true
    this.#sequence.openCall({ ...this.#context.names.original(name), id })
    // Before the input: most clients take it from the beginning of a call, or have it before the call.
    if (signature) this.#seal(signature)
    this.#sequence.input(inputText(call['args']))
    this.#sequence.close()
  }

  #other(part: Json): void {
    const name = Object.keys(part).find((each) => part[each] != null && !each.startsWith('thought'))
    if (name !== undefined) this.#sequence.lost('content')
  }

  end(emit: Emit): void {
    this.#sequence.emit = emit
    if (this.#sequence.isOver) return
    const usage = answerUsage(readUsage(this.#usage))
    if (this.#reason === undefined && !this.#isBlocked) {
      this.#sequence.finishVaguely(usage)
      return
    }
    const reason = this.#stopReason()
    const explanation = reason === 'filtered' ? this.#explanation : undefined
    this.#sequence.finish({ reason, explanation }, usage)
  }

  /** Undefined: an unknown word. */
  #stopReason(): StopReason | undefined {
    const word = this.#reason
    if (word === undefined) return this.#isBlocked ? 'filtered' : undefined
    if (vague.includes(word)) return this.#hasOutput ? 'end' : undefined
    return Object.hasOwn(reasons, word) ? reasons[word] : undefined
  }
}

/** An object, or what the upstream has put in its place. */
const inputText = (args: unknown): string =>
  typeof args === 'string' ? args : JSON.stringify(args ?? {})
