// Which task a caller's own id means, for each key. Ends with the sandbox.

const maxNames = 20_000

export class ExternalIds {
  readonly #ids = new Map<string, string>()

  idOf(key: string, name: string): string | undefined {
    return this.#ids.get(placeOf(key, name))
  }

  /** The oldest is forgotten when there are too many. */
  note(key: string, name: string, id: string): void {
    this.#ids.set(placeOf(key, name), id)
    if (this.#ids.size > maxNames) this.#ids.delete(this.#ids.keys().next().value!)
  }
}

const placeOf = (key: string, name: string): string => JSON.stringify([key, name])
