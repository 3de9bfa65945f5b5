// Parts of a chat answer in the order of blocks. Upstreams send calls side by side, by index: the first
// goes out as it comes, the others wait until it is complete.
import type { CallHead } from '../common/answer.ts'
import { type AnswerSequence, callIdOf, isJson, type TextKind } from '../common/answer-sequence.ts'
import type { Seal } from '../common/envelope.ts'
import type { AnswerNames } from '../common/tool-names.ts'

interface TextLane {
  kind: TextKind
  waiting: string
}

interface CallLane {
  kind: 'call'
  /** Among all calls. */
  position: number
  index: unknown
  id: string
  name: string
  /** Its input that has not gone out. */
  waiting: string
  isOpen: boolean
  isClosed: boolean
  seal?: Seal | undefined
}

/** One part of a call. Upstreams leave out or repeat any of it. */
export interface CallDelta {
  index: unknown
  id: string
  name: string
  input: string
  /** What the upstream wants back with the call. */
  seal?: Seal
}

export class Lanes {
  readonly #out: AnswerSequence
  readonly #names: AnswerNames
  /** The first is going out, the others wait. */
  readonly #lanes: (TextLane | CallLane)[] = []
  /** Of all of them, also of those that went out: their number, and the last with an index or an id. */
  #count = 0
  #last: CallLane | undefined
  readonly #byIndex = new Map<unknown, CallLane>()
  readonly #byId = new Map<string, CallLane>()
  /** Those that have gone out or are going. */
  readonly #sentById = new Map<string, CallLane>()

  /** The upstream's id of the answer. */
  answerId = ''

  constructor(out: AnswerSequence, names: AnswerNames) {
    this.#out = out
    this.#names = names
  }

  text(kind: TextKind, text: string): void {
    if (text === '') return
    const last = this.#lanes.at(-1)
    if (last === undefined || last.kind !== kind) this.#lanes.push({ kind, waiting: text })
    else last.waiting += text
    this.#advance()
  }

  /** The open text is complete. */
  closeText(): void {
    const [first] = this.#lanes
    if (first !== undefined && first.kind !== 'call') this.#close(first)
    else if (first === undefined) this.#out.close()
  }

  call(delta: CallDelta): void {
    const call = this.#callOf(delta)
    if (call.isClosed) {
      if (delta.input.trim() !== '') this.#out.lost('tool_arguments')
      return
    }
    if (call.id === '' && delta.id !== '') this.#name(call, delta.id)
    if (!call.isOpen && delta.name !== call.name) call.name += delta.name
    call.waiting += delta.input
    call.seal = delta.seal ?? call.seal
    this.#advance()
  }

  /** By index; without one, an id begins a call, and a delta without an id continues the last. */
  #callOf(delta: CallDelta): CallLane {
    const { index, id, name } = delta
    const known = this.#known(index, id)
    // Some upstreams give all their calls the same index.
    const isOther = known !== undefined && id !== '' && known.id !== '' && id !== known.id
    if (known !== undefined && !(isOther && name !== '')) return known
    const call: CallLane = {
      kind: 'call',
      position: this.#count++,
      index,
      id: '',
      name: '',
      waiting: '',
      isOpen: false,
      isClosed: false,
    }
    this.#last = call
    if (index !== undefined) this.#byIndex.set(index, call)
    this.#lanes.push(call)
    return call
  }

  #known(index: unknown, id: string): CallLane | undefined {
    if (index !== undefined) return this.#byIndex.get(index)
    return id === '' ? this.#last : this.#byId.get(id)
  }

  /** Of several with one id, the last is known by it. */
  #name(call: CallLane, id: string): void {
    call.id = id
    const other = this.#byId.get(id)
    if (other === undefined || other.position < call.position) this.#byId.set(id, call)
  }

  /** Sends what may go out now. */
  #advance(): void {
    for (;;) {
      const first = this.#lanes[0]
      const next = this.#lanes[1]
      if (first === undefined) return
      if (first.kind === 'call') this.#sendCall(first, next !== undefined)
      else this.#sendText(first)
      if (next === undefined || !this.#isComplete(first)) return
      this.#close(first)
    }
  }

  #sendText(lane: TextLane): void {
    this.#out.text(lane.kind, lane.waiting)
    lane.waiting = ''
  }

  /** A name may come in parts, so that a call opens with its input, or when another one follows. */
  #sendCall(call: CallLane, isFollowed: boolean): void {
    const input = call.waiting
    if (!call.isOpen) {
      const isReady = call.name !== '' && call.id !== '' && input !== ''
      const isWhole = isFollowed && call.name !== '' && isWholeObject(input)
      if (!isReady && !isWhole) return
      this.#open(call)
    }
    this.#out.input(input)
    call.waiting = ''
  }

  #open(call: CallLane): void {
    call.isOpen = true
    this.#name(call, this.#uniqueId(call))
    const head: CallHead = { id: call.id, ...this.#names.original(call.name) }
    this.#out.openCall(head)
    this.#seal(call)
  }

  /** At the beginning of the call, unless it comes later. */
  #seal(call: CallLane): void {
    if (call.seal !== undefined) this.#out.seal(call.seal)
    call.seal = undefined
  }

  #uniqueId(call: CallLane): string {
    const taken = this.#sentById.get(call.id)
    const isOwn = call.id !== '' && taken === undefined
    const id = isOwn ? call.id : callIdOf(this.answerId, call.position)
    if (taken !== undefined && this.#byId.get(call.id) === call) this.#byId.set(call.id, taken)
    this.#sentById.set(id, call)
    return id
  }

  #isComplete(lane: TextLane | CallLane): boolean {
    if (lane.kind !== 'call') return true
    return lane.isOpen && isWholeObject(this.#out.givenInput)
  }

  #close(lane: TextLane | CallLane): void {
    if (lane.kind === 'call') lane.isClosed = true
    if (lane.kind === 'call') this.#seal(lane)
    this.#out.close()
    this.#lanes.shift()
  }

  /** All that waits goes out. */
  end(): void {
    for (const lane of [...this.#lanes]) {
      if (lane.kind !== 'call') this.#sendText(lane)
      else {
        if (!lane.isOpen) this.#open(lane)
        this.#out.input(lane.waiting)
        lane.waiting = ''
      }
      this.#close(lane)
    }
  }
}

/** No input yet may mean that it comes later. */
const isWholeObject = (input: string): boolean => input.trimEnd().endsWith('}') && isJson(input)
