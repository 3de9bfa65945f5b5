// The items of an upstream's answer while they grow. Items may arrive at the same time; their blocks
// are given one after the other: what belongs to a later item waits until the earlier one is done.

import type { Citation } from '../common/answer.ts'
import { type AnswerSequence, callIdOf, type TextKind } from '../common/answer-sequence.ts'
import type { Seal } from '../common/envelope.ts'
import type { AnswerNames } from '../common/tool-names.ts'

export type ItemKind = 'message' | 'reasoning' | 'function_call' | 'custom_tool_call' | 'other'

type Step = () => void

/** One item: what was received of it, and the steps that wait for its turn. */
export class AnswerItem {
  readonly kind: ItemKind
  isDone = false
  callId: string | undefined
  name: string | undefined
  hasCitations = false
  readonly #queue: ItemQueue
  /** Received so far, by part. */
  readonly #texts = new Map<string, string>()
  #lastPart: string | undefined
  #isOpen = false
  readonly #waiting: Step[] = []

  constructor(kind: ItemKind, queue: ItemQueue) {
    this.kind = kind
    this.#queue = queue
  }

  #run(step: Step): void {
    if (this.#queue.isFirst(this)) step()
    else this.#waiting.push(step)
  }

  /** Its turn has come. */
  flush(): void {
    for (const step of this.#waiting.splice(0)) step()
  }

  hasPart(part: string): boolean {
    return this.#texts.has(part)
  }

  get hasText(): boolean {
    return this.#texts.size > 0
  }

  /** The next piece of a part. A new part of a message is a new block, one of reasoning a paragraph. */
  append(part: string, text: string): void {
    if (text === '' || this.isDone) return
    const isNew = this.#lastPart !== part
    const isFirst = this.#lastPart === undefined
    this.#lastPart = part
    this.#texts.set(part, (this.#texts.get(part) ?? '') + text)
    const { sequence } = this.#queue
    if (this.kind === 'reasoning') {
      this.#give('reasoning', isNew && !isFirst ? `\n\n${text}` : text)
    } else if (this.kind === 'message') {
      if (isNew && !isFirst) this.#run(() => sequence.close())
      this.#give(part.startsWith('refusal') ? 'refusal' : 'text', text)
    } else if (this.kind === 'function_call' && this.#isOpen) this.#run(() => sequence.input(text))
  }

  #give(kind: TextKind, text: string): void {
    const { sequence } = this.#queue
    if (this.#queue.isFirst(this)) sequence.text(kind, text)
    else this.#waiting.push(() => sequence.text(kind, text))
  }

  /** All of a part: only what was not received yet is new. */
  complete(part: string, text: string): void {
    const known = this.#texts.get(part) ?? ''
    if (text.length > known.length && text.startsWith(known)) {
      this.append(part, text.slice(known.length))
    }
  }

  /** A call begins once its name is known. */
  openCall(): void {
    const { callId, name } = this
    if (!this.#isOpen && callId !== undefined && name) this.#open(callId, name)
  }

  #open(callId: string, name: string): void {
    this.#isOpen = true
    const { sequence, names } = this.#queue
    const isRaw = this.kind === 'custom_tool_call'
    const original = names.original(name)
    const freeForm = isRaw || original.freeForm
    this.#run(() => sequence.openCall({ ...original, id: callId, freeForm }))
    const early = this.#texts.get('input')
    if (early !== undefined && !isRaw) this.#run(() => sequence.input(early))
  }

  cite(citation: Citation): void {
    this.hasCitations = true
    const { sequence } = this.#queue
    this.#run(() => {
      if (sequence.block?.kind === 'text') sequence.cite(citation)
    })
  }

  seal(seal: Seal): void {
    const { sequence } = this.#queue
    this.#run(() => {
      if (sequence.block?.kind !== 'reasoning') sequence.open({ kind: 'reasoning' })
      sequence.seal(seal)
    })
  }

  /** What an upstream has not told of a call by now does not come. */
  finish(): void {
    if (this.isDone) return
    if (this.#isCall && !this.#isOpen) {
      this.#open(this.callId ?? this.#queue.nextCallId(), this.name ?? '')
    }
    this.isDone = true
    const { sequence } = this.#queue
    if (this.kind === 'custom_tool_call' && this.#isOpen) {
      const text = this.#texts.get('input') ?? ''
      this.#run(() => sequence.freeInput(text))
    } else if (this.kind !== 'other') this.#run(() => sequence.close())
    this.#queue.advance()
  }

  get #isCall(): boolean {
    return this.kind === 'function_call' || this.kind === 'custom_tool_call'
  }
}

/** Items in the order of their arrival; the first that is not done gives its blocks at once. */
export class ItemQueue {
  readonly sequence: AnswerSequence
  readonly names: AnswerNames
  /** The upstream's id of the answer. */
  answerId = ''
  readonly #items: AnswerItem[] = []
  #madeIds = 0

  constructor(sequence: AnswerSequence, names: AnswerNames) {
    this.sequence = sequence
    this.names = names
  }

  /** For a call that its upstream gave no id. */
  nextCallId(): string {
    return callIdOf(this.answerId, this.#madeIds++)
  }

  add(kind: ItemKind): AnswerItem {
    const item = new AnswerItem(kind, this)
    this.#items.push(item)
    if (kind === 'other') item.finish()
    return item
  }

  isFirst(item: AnswerItem): boolean {
    return this.#items[0] === item
  }

  advance(): void {
    while (this.#items[0]?.isDone) {
      this.#items.shift()
      this.#items[0]?.flush()
    }
  }

  finishAll(): void {
    for (const item of [...this.#items]) item.finish()
  }
}
