// All tokens by the hash of their secret, packed as bytes: as objects, a million of them take half a
// gigabyte, through which the collector goes again and again. A token becomes an object when it is
// asked for. Parts that many tokens have in common exist once.
import type { Token } from '../contract/catalog.ts'

/** No row reaches over the end of one. */
const chunkBytes = 1 << 22
const firstSlots = 64
/** Share of the slots that are taken at most. */
const maxLoad = 0.5
/** Further ones are kept with their tokens. */
const maxShared = 10_000

/** What differs from token to token. */
type Own = Pick<Token, 'id' | 'accountId' | 'accountName' | 'name' | 'prefix'>
type Shared = Omit<Token, keyof Own>
type Row = [hash: string, shared: number | Shared, ...own: string[]]

export class TokenTable {
  readonly #chunks: Buffer[] = []
  #used = chunkBytes
  /** Of each row: where it begins in all chunks, and its length; none when it was removed. */
  #rows = new Uint32Array(2 * firstSlots)
  #written = 0
  #removed = 0
  readonly #byHash = new RowIndex()
  readonly #byId = new RowIndex()
  readonly #shared: Shared[] = []
  readonly #sharedByText = new Map<string, number>()
  #firstAccount: string | undefined
  #hasManyAccounts = false

  get size(): number {
    return this.#written - this.#removed
  }

  /** Rows that take memory for nothing. */
  get removed(): number {
    return this.#removed
  }

  /** The tokens belong to more than one account, or did. */
  get hasManyAccounts(): boolean {
    return this.#hasManyAccounts
  }

  /** Each hash and each id once. */
  add(hash: string, { id, accountId, accountName, name, prefix, ...shared }: Token): this {
    this.#firstAccount ??= accountId
    if (accountId !== this.#firstAccount) this.#hasManyAccounts = true
    const row: Row = [hash, this.#sharedIn(shared), id, accountId, accountName, name, prefix]
    this.#write(JSON.stringify(row))
    this.#byHash.add(codeOf(hash))
    this.#byId.add(codeOf(id))
    return this
  }

  get(hash: string): Token | undefined {
    const begin = `[${JSON.stringify(hash)},`
    const row = this.#byHash.find(codeOf(hash), (each) => this.#read(each).startsWith(begin))
    return row === undefined ? undefined : this.#tokenIn(this.#read(row))
  }

  byId(id: string): Token | undefined {
    const row = this.#rowOf(id)
    return row === undefined ? undefined : this.#tokenIn(this.#read(row))
  }

  #rowOf(id: string): number | undefined {
    return this.#byId.find(codeOf(id), (each) => {
      const text = this.#read(each)
      return text !== '' && this.#tokenIn(text).id === id
    })
  }

  /** Nothing happens when there is none. */
  remove(id: string): void {
    const row = this.#rowOf(id)
    if (row === undefined) return
    this.#rows[2 * row + 1] = 0
    this.#removed++
  }

  #tokenIn(text: string): Token {
    const [, kept, ...own] = JSON.parse(text) as Row
    const [id, accountId, accountName, name, prefix] = own as [
      string,
      string,
      string,
      string,
      string,
    ]
    const shared = typeof kept === 'number' ? this.#shared[kept]! : kept
    return { id, accountId, accountName, name, prefix, ...shared }
  }

  #sharedIn(shared: Shared): number | Shared {
    const text = JSON.stringify(shared)
    const known = this.#sharedByText.get(text)
    if (known !== undefined) return known
    if (this.#shared.length >= maxShared) return shared
    this.#sharedByText.set(text, this.#shared.length)
    return this.#shared.push(JSON.parse(text) as Shared) - 1
  }

  #write(text: string): void {
    const length = Buffer.byteLength(text)
    if (this.#used + length > chunkBytes) {
      this.#chunks.push(Buffer.allocUnsafeSlow(Math.max(chunkBytes, length)))
      this.#used = 0
    }
    this.#chunks.at(-1)!.write(text, this.#used)
    const at = 2 * this.#written
    if (at === this.#rows.length) this.#rows = widened(this.#rows)
    this.#rows[at] = (this.#chunks.length - 1) * chunkBytes + this.#used
    this.#rows[at + 1] = length
    this.#used += length
    this.#written++
  }

  /** Empty when it was removed. */
  #read(row: number): string {
    const place = this.#rows[2 * row]!
    const from = place % chunkBytes
    const chunk = this.#chunks[Math.floor(place / chunkBytes)]!
    return chunk.toString('utf8', from, from + this.#rows[2 * row + 1]!)
  }
}

/** Numbers of rows by a code that several may have. */
class RowIndex {
  #codes = new Uint32Array(firstSlots)
  #size = 0
  /** Open addressing: a row's number plus one, or nought. */
  #slots = new Uint32Array(firstSlots)

  /** The next row. */
  add(code: number): void {
    if (this.#size === this.#codes.length) this.#codes = widened(this.#codes)
    this.#codes[this.#size++] = code
    if (this.#size > this.#slots.length * maxLoad) this.#widen()
    else this.#take(this.#size - 1)
  }

  find(code: number, isIt: (row: number) => boolean): number | undefined {
    const last = this.#slots.length - 1
    for (let slot = code & last; ; slot = (slot + 1) & last) {
      const number = this.#slots[slot]!
      if (number === 0) return undefined
      if (isIt(number - 1)) return number - 1
    }
  }

  #take(row: number): void {
    const last = this.#slots.length - 1
    let slot = this.#codes[row]! & last
    while (this.#slots[slot] !== 0) slot = (slot + 1) & last
    this.#slots[slot] = row + 1
  }

  #widen(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length)
    for (let row = 0; row < this.#size; row++) this.#take(row)
  }
}

function widened(list: Uint32Array): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(2 * list.length)
  wider.set(list)
  return wider
}

/** 32 bits that depend on the whole text. */
const codeOf = (text: string): number => Bun.hash.crc32(text)
