// Names of video models that end in a date: they pin an upstream version and cost the same as the
// undated name. The first request for one registers it.
import { isNameOnly, type Model } from '../contract/catalog.ts'

const dated = /^(.+)-(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))$/
/** Names come from callers; beyond this number, learned names are cleared. */
const maxKnown = 1_000

/** vfa-2.7-t2v-2026-04-25 -> vfa-2.7-t2v and 2026-04-25; undefined when it has no date. */
export function splitDate(name: string): { plain: string; date: string } | undefined {
  const [, plain, date] = dated.exec(name) ?? []
  return plain === undefined || date === undefined ? undefined : { plain, date }
}

export class DatedModels {
  readonly #plain: ReadonlyMap<string, Model>
  readonly #serve: (model: Model) => boolean
  readonly #known = new Map<string, Model | undefined>()

  /** `serve` creates the routes of a new name, and returns whether there are any. */
  constructor(plain: ReadonlyMap<string, Model>, serve: (model: Model) => boolean) {
    this.#plain = plain
    this.#serve = serve
  }

  find(name: string): Model | undefined {
    const known = this.#known.get(name)
    if (known !== undefined || this.#known.has(name)) return known
    const made = this.#make(name)
    if (this.#known.size >= maxKnown) this.#known.clear()
    this.#known.set(name, made)
    return made
  }

  #make(name: string): Model | undefined {
    const plain = this.#plain.get(splitDate(name)?.plain ?? '')
    if (plain === undefined || plain.kind !== 'video' || isNameOnly(plain)) return undefined
    const model: Model = { ...plain, name, pricedAs: plain.name }
    return this.#serve(model) ? model : undefined
  }
}
