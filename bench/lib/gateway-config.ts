// What the measured gateway is configured with: one account, one token, channels to fake upstreams
// and one price for everything. Refuses to know processes.

import { payloads, styles } from '../payload/index.ts'

export const adminToken = 'bench-admin-token-0123456789abcdef'
export const account = 'bench'
export const callerToken = 'sk-bench0123456789abcdef0123456789'
export const nanosPerToken = 1000n

/** The account and the token of every caller. */
export const callerConfig = {
  accounts: [{ name: account, balance: '900000000.00' }],
  tokens: [{ account, name: 'bench', token: callerToken, models: ['*'] }],
}

/** A channel and the address of its upstream, without a slash at the end. */
export interface Channel {
  name: string
  url: string
}

const models = [...new Set(styles.map((style) => payloads[style].model))]

/** Every kind of token has one price, so that a call's charge follows from its total alone. */
export const tokenPrices = (names: readonly string[]): object[] => {
  const price = '1.00'
  return names.map((model) => ({
    model,
    unit: 'token',
    per_million: { input: price, output: price, cache_read: price, cache_write: price },
  }))
}

/** The upstream has other names for the models, as usual. */
export function gatewayConfig(channels: readonly Channel[]): object {
  return {
    region: 'cn',
    currency: 'CNY',
    ...callerConfig,
    channels: channels.map(({ name, url }) => ({
      name,
      region: 'cn',
      keys: ['bench-upstream-key'],
      protocols: {
        chat: `${url}/v1`,
        responses: `${url}/v1`,
        messages: url,
        generate: url,
        embeddings: `${url}/v1`,
      },
      models: Object.fromEntries(models.map((model) => [model, `${model}-2026-11`])),
      max_concurrency: 100_000,
    })),
    prices: tokenPrices(models),
  }
}
