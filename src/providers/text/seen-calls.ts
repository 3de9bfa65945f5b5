// The tool calls of one choice of a stream, with an index of their own each. Found without reading the others:
// one event may have thousands.

interface SeenCall {
  id: string
  /** As the caller gets it. */
  readonly own: number
}

/** More are not told apart. */
const maxCalls = 256

export class SeenCalls {
  #count = 0
  #last: SeenCall | undefined
  /** The last call with an index of the upstream, or with an id. */
  readonly #byIndex = new Map<unknown, SeenCall>()
  readonly #byId = new Map<string, SeenCall>()

  get isFull(): boolean {
    return this.#count >= maxCalls
  }

  /** Without an index, by its id; without either it is the last one. */
  find(index: unknown, id: string): SeenCall | undefined {
    if (index !== undefined) return this.#byIndex.get(index)
    return id === '' ? this.#last : this.#byId.get(id)
  }

  add(index: unknown, id: string): number {
    const call = { id, own: this.#count++ }
    this.#last = call
    this.#byIndex.set(index, call)
    if (id !== '') this.#byId.set(id, call)
    return call.own
  }

  name(call: SeenCall, id: string): void {
    call.id = id
    this.#byId.set(id, call)
  }
}
