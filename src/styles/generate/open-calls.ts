// Calls of a conversation that have no result yet, in order. A result without an id belongs to the first
// open call of its name. Each search goes on where the last one ended, so that thousands of calls with
// their results in any order take as many steps.

interface OpenCall {
  readonly id: string
  isOpen: boolean
}

class Queue {
  readonly #calls: OpenCall[] = []
  #from = 0

  add(call: OpenCall): void {
    this.#calls.push(call)
  }

  first(): OpenCall | undefined {
    while (this.#calls[this.#from]?.isOpen === false) this.#from++
    return this.#calls[this.#from]
  }
}

export class OpenCalls {
  readonly #all = new Queue()
  readonly #byId = new Map<string, Queue>()
  readonly #byName = new Map<string, Queue>()

  add(id: string, name: string): void {
    const call = { id, isOpen: true }
    this.#all.add(call)
    queueOf(this.#byId, id).add(call)
    queueOf(this.#byName, name).add(call)
  }

  /** The id of the call that a result is for: by its id, else by its name, else the first. */
  take(id: string | undefined, name: string | undefined): string | undefined {
    const found =
      (id !== undefined && this.#byId.get(id)?.first()) ||
      (name !== undefined && this.#byName.get(name)?.first()) ||
      this.#all.first()
    if (!found) return undefined
    found.isOpen = false
    return found.id
  }
}

function queueOf(queues: Map<string, Queue>, key: string): Queue {
  const known = queues.get(key)
  if (known !== undefined) return known
  const queue = new Queue()
  queues.set(key, queue)
  return queue
}
