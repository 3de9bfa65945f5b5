// The gateway of translated calls: one channel for each style, with a model of a mapped name and one
// of the same name. Refuses to know processes.

import { type TextStyle, textStyles } from '../payload/index.ts'
import { callerConfig, tokenPrices } from './gateway-config.ts'

/** Only an upstream of this style serves it, under another name. */
export const pairModel = (style: TextStyle): string => `served-as-${style}`
/** The same upstream, under the same name. */
export const unmappedModel = (style: TextStyle): string => `named-as-${style}`

const modelsOf = (style: TextStyle): string[] => [pairModel(style), unmappedModel(style)]

const baseOf = (style: TextStyle, url: string): string =>
  style === 'chat' || style === 'responses' ? `${url}/v1` : url

/** `url` without a slash at the end. */
export function pairConfig(url: string): object {
  return {
    region: 'cn',
    currency: 'CNY',
    ...callerConfig,
    channels: textStyles.map((style) => ({
      name: style,
      region: 'cn',
      keys: ['bench-upstream-key'],
      protocols: { [style]: baseOf(style, url) },
      models: { [pairModel(style)]: `upstream-${style}-2026-11`, [unmappedModel(style)]: '*' },
      max_concurrency: 100_000,
    })),
    models: textStyles.flatMap((style) =>
      modelsOf(style).map((name) => ({ name, kind: 'text', interfaces: [style] })),
    ),
    prices: tokenPrices(textStyles.flatMap(modelsOf)),
  }
}
