// What forms and lists of models ask of the catalog.
import type { Channel } from '../../lib/resources/channel.ts'
import type { Model } from '../../lib/resources/price.ts'

export const isPattern = ({ name }: Pick<Model, 'name'>): boolean => name.endsWith('*')
export const isVirtual = ({ virtual }: Model): boolean => virtual !== null && virtual !== undefined
export const isAlias = ({ alias }: Model): boolean => alias !== null && alias !== undefined
/** With upstreams of its own. */
export const isPlain = (model: Model): boolean => !isVirtual(model) && !isAlias(model)

/** Interfaces and protocols that models of a kind have, as the catalog knows them. */
export function offersOf(models: readonly Model[], kind: string) {
  const same = models.filter((model) => model.kind === kind && isPlain(model))
  const names = (of: (model: Model) => readonly string[]) => [...new Set(same.flatMap(of))]
  return {
    interfaces: names(({ interfaces }) => interfaces),
    protocols: names(({ protocols = [] }) => protocols),
  }
}

/** Text and embeddings are asked in the protocols of their interfaces. */
export const hasProtocols = (kind: string): boolean => kind === 'image' || kind === 'video'

/** `openai/GPT-5` as callers would write it. */
export const plainName = (upstream: string): string =>
  upstream
    .slice(upstream.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 128)

export const canServe = ({ source }: Channel): boolean => source === 'api'

/** As PUT /models takes it: what makes the model what it is. */
export function declarationOf(model: Model): object {
  const { name, kind, alias, virtual, price, display_name, ...own } = model
  const shown = display_name === name ? {} : { display_name }
  if (isAlias(model)) return { alias, ...shown }
  if (isVirtual(model)) return { kind, virtual, price, ...shown }
  const { interfaces, protocols, translate, routing } = own
  const { context_window, max_output_tokens, max_tokens_per_image, retention, training } = own
  const given = { context_window, max_output_tokens, max_tokens_per_image, retention, training }
  const set = Object.entries(given).filter(([, value]) => value !== null)
  return {
    ...{ kind, interfaces, protocols, translate, routing, ...shown },
    ...Object.fromEntries(set),
  }
}

interface Member {
  model: string
  weight?: number | undefined
}

export const membersOf = ({ virtual }: Model): Member[] =>
  (virtual ?? []).map((each) => (typeof each === 'string' ? { model: each } : each))
