// Where contents of files are: with the results, or in the database where gateways share that and no store of
// files.
import type { MediaStore } from '../../media/store.ts'
import { deleteParts, insertPart, readPart } from '../../store/batches/parts.ts'
import type { Store } from '../../store/index.ts'
import type { MediaStorage } from '../results/media-storage.ts'

export interface ContentDeps {
  readonly store: Store
  readonly media?: MediaStorage
}

const partBytes = 512 * 1024
const inDatabase = 'database'

/** The one that takes new contents. */
export function mainStore(deps: ContentDeps): MediaStore {
  const { store, media } = deps
  const isOwn = media?.main.place.startsWith('data:') && store.cluster !== undefined
  return media === undefined || isOwn ? new DatabaseStore(store) : media.main
}

/** Undefined: this gateway cannot reach it. */
export const storeAt = ({ store, media }: ContentDeps, place: string): MediaStore | undefined =>
  place === inDatabase ? new DatabaseStore(store) : media?.stores.get(place)

class DatabaseStore implements MediaStore {
  readonly place = inDatabase
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  async write(name: string, body: AsyncIterable<Uint8Array>) {
    let number = 0
    let bytes = 0
    try {
      for await (const part of joined(body)) {
        const at = number++
        bytes += part.byteLength
        await this.#store.tx((tx) => insertPart(tx, name, at, part))
      }
      return { bytes, etag: '' }
    } catch (error) {
      await this.remove(name).catch(() => {})
      return { problem: error instanceof Error ? error.message : String(error) }
    }
  }

  async open(name: string): Promise<ReadableStream<Uint8Array> | undefined> {
    const { read } = this.#store
    let number = 0
    let next: Uint8Array | undefined = await readPart(read, name, number)
    if (next === undefined) return undefined
    return new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (next === undefined) return controller.close()
        controller.enqueue(next)
        next = await readPart(read, name, ++number)
      },
    })
  }

  async remove(name: string): Promise<boolean> {
    await this.#store.tx((tx) => deleteParts(tx, name))
    return true
  }

  async tidy(): Promise<void> {}
}

/** Small ones together. */
async function* joined(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = []
  let size = 0
  for await (const each of body) {
    held.push(each)
    size += each.byteLength
    if (size < partBytes) continue
    yield Buffer.concat(held)
    held = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(held)
}
