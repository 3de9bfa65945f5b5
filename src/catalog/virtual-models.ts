// Names over other models: virtual models and aliases. Resolves each once for a snapshot; words that
// only a pattern matches are resolved when a caller first uses them.
import {
  type Backing,
  isNameOnly,
  type Member,
  type Model,
  modelDefaults,
} from '../contract/catalog.ts'
import { matches } from '../lib/text/pattern.ts'
import { splitDate } from './dated-models.ts'

type Find = (name: string) => Model | undefined

const isPattern = ({ name }: Model): boolean => name.endsWith('*')

/** A model by its name, also a dated one. */
export function knownModel(models: ReadonlyMap<string, Model>, name: string): Model | undefined {
  const model = models.get(name)
  if (model !== undefined) return model
  const plain = models.get(splitDate(name)?.plain ?? '')
  return plain?.kind === 'video' ? { ...plain, name } : undefined
}

/** Why it cannot stand for what it names; undefined when it can. Reads on after its name. */
export function namingProblem({ virtual, alias, kind }: Model, find: Find): string | undefined {
  if (alias !== undefined) {
    const target = find(alias)
    if (target === undefined) return `is an alias of '${alias}', which is no model`
    return target.alias === undefined ? undefined : `is an alias of '${alias}', which is one, too`
  }
  for (const { model } of virtual?.members ?? []) {
    const member = find(model)
    if (member === undefined) return `has the member '${model}', which is no model`
    if (isNameOnly(member)) return `has the member '${model}', which is no model of its own`
    if (member.kind !== kind) return `is for ${kind}, and its member '${model}' for ${member.kind}`
  }
  return undefined
}

/** With what serves it; unchanged, so that nothing does, where that cannot be. */
export function withBacking(model: Model, find: Find): Model {
  if (namingProblem(model, find) !== undefined) return model
  if (model.alias === undefined) return backed(model, membersOf(model, find), ownPrice(model))
  const target = find(model.alias)!
  if (target.virtual === undefined) return backed(model, [{ model: target }], undefined)
  if (namingProblem(target, find) !== undefined) return model
  return backed(model, membersOf(target, find), ownPrice(target))
}

const membersOf = ({ virtual }: Model, find: Find): Member[] =>
  (virtual?.members ?? []).map(({ model, ...rest }) => ({ model: find(model)!, ...rest }))

const ownPrice = ({ name, virtual }: Model): string | undefined =>
  virtual?.price === 'own' ? name : undefined

/** What callers may rely on, whichever member serves. */
function backed(model: Model, members: readonly Member[], pricedAs: string | undefined): Model {
  const all = members.map((each) => each.model)
  const backing: Backing = { members, ...(pricedAs !== undefined && { pricedAs }) }
  const union = <Name extends string>(of: (each: Model) => readonly Name[]): Name[] => [
    ...new Set(all.flatMap(of)),
  ]
  const min = (field: keyof typeof modelDefaults) =>
    all.some((each) => each[field] !== undefined) && {
      [field]: Math.min(...all.map((each) => each[field] ?? modelDefaults[field])),
    }
  return {
    ...model,
    kind: all[0]?.kind ?? model.kind,
    interfaces: union(({ interfaces }) => interfaces),
    protocols: union(({ protocols }) => protocols),
    ...min('contextWindow'),
    ...min('maxOutputTokens'),
    ...min('maxTokensPerImage'),
    ...(all.every(({ translate }) => translate === false) && { translate: false as const }),
    backing,
  }
}

/** Words come from callers: they appear in logs, bills and headers. */
const word = /^[A-Za-z0-9][\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{0,127}$/
/** Beyond this number, learned words are cleared. */
const maxKnown = 1_000

/** Aliases whose name is a prefix. The longest one that fits applies. */
export class AliasPatterns {
  readonly #patterns: readonly Model[]
  readonly #known = new Map<string, Model | undefined>()

  constructor(models: Iterable<Model>) {
    this.#patterns = [...models]
      .filter((model) => isPattern(model) && model.backing !== undefined)
      .sort((a, b) => b.name.length - a.name.length)
  }

  find(name: string): Model | undefined {
    if (this.#patterns.length === 0) return undefined
    const known = this.#known.get(name)
    if (known !== undefined || this.#known.has(name)) return known
    if (!word.test(name)) return undefined
    const pattern = this.#patterns.find((each) => matches(each.name, name))
    const made = pattern && { ...pattern, name, displayName: name }
    if (this.#known.size >= maxKnown) this.#known.clear()
    this.#known.set(name, made)
    return made
  }
}
