// What is under way, in an array: each item knows its index. A Set or Map is for what stays. When one
// grows too full of deleted entries, Bun's copies it and keeps a reference from the old copy to the new
// one, so that iterators find it. Once an old copy has become old to the collector, every later copy,
// and all that was in flight when it was made, survives each collection of young objects.

export interface Listed {
  /** Written by the list; -1 outside of it. */
  index: number
}

export class InFlight<T extends Listed> {
  readonly #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: T): void {
    if (item.index !== -1) return
    item.index = this.#items.length
    this.#items.push(item)
  }

  /** False when it was not there. The last one takes its index. */
  delete(item: T): boolean {
    const { index } = item
    if (this.#items[index] !== item) return false
    const last = this.#items.pop()!
    if (last !== item) {
      this.#items[index] = last
      last.index = index
    }
    item.index = -1
    return true
  }

  /** Those of this moment that are still there when it is their turn; in no order. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (const item of [...this.#items]) if (item.index !== -1) yield item
  }
}
