// The gateway of the growth figures: so many models, and so many channels for each of them.
// Refuses to know processes.

import { callerConfig, tokenPrices } from '../lib/gateway-config.ts'

export const growthModel = (i: number): string => `bench-model-${i}`

interface GrowthCatalog {
  models: number
  /** For each model. */
  channels: number
}

/** All channels have one upstream; `url` without a slash at the end. */
export function growthConfig(url: string, { models, channels }: GrowthCatalog): object {
  const names = Array.from({ length: models }, (_, i) => growthModel(i))
  const upstreamNames = Object.fromEntries(names.map((name) => [name, `${name}-2026-11`]))
  return {
    region: 'cn',
    currency: 'CNY',
    ...callerConfig,
    channels: Array.from({ length: channels }, (_, i) => ({
      name: `channel-${i}`,
      region: 'cn',
      keys: [`bench-upstream-key-${i}`],
      protocols: { chat: `${url}/v1` },
      models: upstreamNames,
      max_concurrency: 100_000,
    })),
    models: names.map((name) => ({ name, kind: 'text', interfaces: ['chat'] })),
    prices: tokenPrices(names),
  }
}
