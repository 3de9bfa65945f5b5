// Emits the events of an answer in legal order, whatever its reader does: readers of all styles write
// to one of these. Blocks are numbered and closed, calls have an input, and the stop reason fits.
import { createHash } from 'node:crypto'
import type { UpstreamError } from '../../contract/provider.ts'
import { isObject } from '../../lib/json/parse.ts'
import {
  type AnswerLoss,
  type AnswerUsage,
  type Block,
  type CallHead,
  type Citation,
  type Emit,
  isCut,
  type StopReason,
} from './answer.ts'
import type { Seal } from './envelope.ts'
import { unwrapInput } from './free-form.ts'

export type TextKind = 'text' | 'reasoning' | 'refusal'

/** The name of a tool whose upstream named none: legal in every style, and the name of no tool. */
const unnamedTool = 'unnamed_tool'

interface Stop {
  /** Undefined: the upstream gave none, or an unknown one, which is a plain end. */
  reason: StopReason | undefined
  sequence?: string | undefined
  explanation?: string | undefined
}

export class AnswerSequence {
  /** Where events go; readers set it before they write. */
  emit: Emit = () => {}
  /** For reasoning that its upstream left unsealed, so that it is known as its own when it comes back. */
  ownSeal: Seal | undefined
  #state: 'new' | 'begun' | 'over' = 'new'
  #next = 0
  #block: Block | undefined
  /** The open call's input so far. */
  #input = ''
  #isSealed = false
  #calls = 0
  #refusals = 0
  /** A call whose input is not JSON. */
  #hasBroken = false

  /** Something of the answer was changed or left out. */
  lost(what: AnswerLoss): void {
    this.emit({ type: 'lost', what })
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /** The open block. */
  get block(): Block | undefined {
    return this.#block
  }

  /** The number of the block that is open, or opens next. */
  get nextIndex(): number {
    return this.#next
  }

  begin(): void {
    if (this.#state !== 'new') return
    this.#state = 'begun'
    this.emit({ type: 'begin' })
  }

  open(block: Block): void {
    this.begin()
    this.close()
    if (this.isOver) return
    this.#block = block
    this.#input = ''
    this.#isSealed = false
    if (block.kind === 'call') this.#calls++
    if (block.kind === 'refusal') this.#refusals++
    this.emit({ type: 'open', index: this.#next, block })
  }

  openCall(call: CallHead): void {
    if (call.name !== '') {
      this.open({ kind: 'call', call })
      return
    }
    this.lost('tool_name')
    this.open({ kind: 'call', call: { ...call, name: unnamedTool } })
  }

  /** Text of that kind: goes to the open block, or opens one. No text opens nothing. */
  text(kind: TextKind, text: string): void {
    if (text === '' || this.isOver) return
    if (this.#block?.kind !== kind) this.open({ kind })
    this.emit({ type: 'text', index: this.#next, text })
  }

  /** A part of the open call's input, in JSON; of a free-form call the text is unwrapped at its end. */
  input(text: string): void {
    if (text === '' || this.isOver || this.#block?.kind !== 'call') return
    this.#input += text
    if (!this.#block.call.freeForm) this.emit({ type: 'input', index: this.#next, text })
  }

  /** The open call's input so far. */
  get givenInput(): string {
    return this.#input
  }

  /** All of the open call's input, from an upstream that has free-form calls itself. */
  freeInput(text: string): void {
    if (this.isOver || this.#block?.kind !== 'call') return
    this.emit({ type: 'input', index: this.#next, text })
    this.#closeBlock()
  }

  seal(seal: Seal): void {
    if (this.isOver || this.#block === undefined) return
    this.#isSealed = true
    this.emit({ type: 'seal', index: this.#next, seal })
  }

  cite(citation: Citation): void {
    if (this.isOver || this.#block === undefined) return
    this.emit({ type: 'cite', index: this.#next, citation })
  }

  close(): void {
    const block = this.#block
    if (block === undefined || this.isOver) return
    if (block.kind === 'call') this.#closeCall(block.call)
    const { ownSeal } = this
    if (block.kind === 'reasoning' && !this.#isSealed && ownSeal !== undefined) this.seal(ownSeal)
    this.#closeBlock()
  }

  #closeCall({ freeForm }: CallHead): void {
    const text = this.#input
    if (freeForm) {
      this.emit({ type: 'input', index: this.#next, text: unwrapInput(text) })
    } else if (text.trim() === '') {
      this.emit({ type: 'input', index: this.#next, text: '{}' })
    } else if (!isJson(text)) this.#hasBroken = true
  }

  #closeBlock(): void {
    this.#block = undefined
    this.#input = ''
    this.emit({ type: 'close', index: this.#next++ })
  }

  /** The regular end. */
  finish(stop: Stop, usage: AnswerUsage | undefined): void {
    if (this.isOver) return
    this.begin()
    this.close()
    const { reason, sequence, explanation } = stop
    if (reason === undefined) this.lost('finish_reason')
    const isWhole = reason === undefined || !isCut({ reason })
    if (this.#hasBroken && isWhole) this.lost('tool_arguments')
    this.#state = 'over'
    this.emit({
      type: 'stop',
      reason: isWhole ? this.#complete(reason ?? 'end') : reason,
      ...(sequence !== undefined && this.#calls === 0 && { sequence }),
      ...(explanation !== undefined && { explanation }),
    })
    if (usage !== undefined) this.emit({ type: 'usage', usage })
  }

  /** The reason follows what was given: upstreams say `stop` after a call, or announce none. */
  #complete(reason: StopReason): StopReason {
    if (this.#calls > 0) return 'calls'
    if (this.#refusals > 0) return 'refusal'
    return reason === 'calls' ? 'end' : reason
  }

  /** The upstream has finished without a word about why. */
  finishVaguely(usage: AnswerUsage | undefined): void {
    const isEmpty = this.#next === 0 && this.#block === undefined
    if (isEmpty) this.fail(emptyAnswer)
    else this.finish({ reason: undefined }, usage)
  }

  fail(error: UpstreamError): void {
    if (this.isOver) return
    this.#state = 'over'
    this.emit({ type: 'fail', error })
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Other callers may do well with it, so that it says nothing about the channel. */
const emptyAnswer: UpstreamError = {
  code: 'upstream_invalid_response',
  message: 'the upstream ended an answer without content and without a reason to stop',
  about: 'answer',
}

const contentPolicy = /content_policy|content_filter|data_inspection|invalid_prompt/i
const rateLimit = /rate_limit|resource_exhausted|slow_down/i

/** An error inside an answer that began successfully: an object with a message, or a text. */
export function reportedError(error: unknown): UpstreamError {
  const { message, code, type, status } = isObject(error) ? error : { message: error }
  const words = [code, type, status].filter((each) => typeof each === 'string').join(' ')
  return {
    code: contentPolicy.test(words)
      ? 'content_policy_violation'
      : rateLimit.test(words)
        ? 'upstream_rate_limited'
        : 'upstream_error',
    message:
      typeof message === 'string' && message !== ''
        ? message
        : 'the upstream reported an error in its answer',
  }
}

const idLetters = 16

/**
 * The id of a call whose upstream gave none, or the same one twice: the same in every reading of an answer,
 * and another one in every other answer. Clients derive ids of their own from ids of calls, so that none may
 * be the beginning of another.
 */
export function callIdOf(answerId: string, ordinal: number): string {
  const hash = createHash('sha256').update(`${answerId} ${ordinal}`).digest('hex')
  return `call_${hash.slice(0, idLetters)}`
}
