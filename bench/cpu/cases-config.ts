// The gateway of the cases: one channel for each upstream, with models that the upstream has another name
// for and models of the same name. Refuses to know processes.

import { callerConfig, tokenPrices } from '../lib/gateway-config.ts'
import { type Style, textStyles } from '../payload/index.ts'

/** What the upstream calls its models. nginx and the bare proxy, which rename nothing, get this name. */
export const upstreamModel = 'bench-model-2026-11'

/** The caller's name for a model of the upstream with this number. */
export function modelFor(style: Style, upstream: number, isMapped: boolean): string {
  const kind = style === 'embeddings' ? 'embed' : 'plus'
  return `${isMapped ? 'mapped' : 'named'}-${kind}-${upstream}`
}

const kinds = [
  { style: 'chat', kind: 'text', interfaces: textStyles },
  { style: 'embeddings', kind: 'embedding', interfaces: ['embeddings'] },
] as const

/** Addresses without a slash at the end. */
export function casesConfig(urls: readonly string[]): object {
  const models = urls.flatMap((_, upstream) =>
    kinds.flatMap(({ style, kind, interfaces }) =>
      [true, false].map((isMapped) => ({
        name: modelFor(style, upstream, isMapped),
        kind,
        interfaces,
        upstream,
        isMapped,
      })),
    ),
  )
  return {
    region: 'cn',
    currency: 'CNY',
    ...callerConfig,
    channels: urls.map((url, upstream) => ({
      name: `upstream-${upstream}`,
      region: 'cn',
      keys: ['bench-upstream-key'],
      protocols: {
        chat: `${url}/v1`,
        responses: `${url}/v1`,
        messages: url,
        generate: url,
        embeddings: `${url}/v1`,
      },
      models: Object.fromEntries(
        models
          .filter((model) => model.upstream === upstream)
          .map(({ name, isMapped }) => [name, isMapped ? upstreamModel : '*']),
      ),
      max_concurrency: 100_000,
    })),
    models: models.map(({ name, kind, interfaces }) => ({ name, kind, interfaces })),
    prices: tokenPrices(models.map(({ name }) => name)),
  }
}
