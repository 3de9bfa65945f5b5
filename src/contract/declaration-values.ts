// How a checked declaration becomes a value of the catalog or a price, defaults filled in.
import type { z } from 'zod'
import { parseNanos } from '../lib/decimal.ts'
import type { Channel, MessagesSettings, Model, Protocol, Source, Timeouts } from './catalog.ts'
import { protocols } from './catalog.ts'
import { parseDurationMs } from './declaration-fields.ts'
import {
  type ChannelDeclaration,
  type ModelDeclaration,
  type PriceDeclaration,
  protocolsOf,
  type tokenRates,
} from './declaration-schemas.ts'
import type { PriceTerms, TokenRates } from './price.ts'

const timeoutDefaults = { connect: '10s', first_byte: '120s', idle: '60s', total: '600s' }

function timeoutsFrom(declared: ChannelDeclaration['timeouts']): Timeouts {
  const ms = (field: keyof typeof timeoutDefaults) =>
    parseDurationMs(declared?.[field] ?? timeoutDefaults[field])!
  return {
    connectMs: ms('connect'),
    firstByteMs: ms('first_byte'),
    idleMs: ms('idle'),
    totalMs: ms('total'),
  }
}

export function messagesFrom(declared: ChannelDeclaration['messages']): MessagesSettings {
  const { headers = 'both', auth = 'both', version } = declared ?? {}
  return { headers, auth, ...(version !== undefined && { version }) }
}

export function channelFrom(
  declared: ChannelDeclaration,
  known: { id: string; source: Source /** The gateway's own. */; region: string },
): Channel {
  const addresses: Partial<Record<Protocol, string>> = {}
  for (const protocol of protocols) {
    const address = declared.protocols[protocol]
    if (address !== undefined) addresses[protocol] = address.replace(/\/+$/, '')
  }
  return {
    id: known.id,
    name: declared.name,
    region: declared.region ?? known.region,
    keys: declared.keys,
    protocols: addresses,
    models: declared.models,
    priority: declared.priority ?? 0,
    weight: declared.weight ?? 1,
    timeouts: timeoutsFrom(declared.timeouts),
    maxConcurrency: declared.max_concurrency ?? 200,
    messages: messagesFrom(declared.messages),
    disabled: false,
    source: known.source,
  }
}

export function modelFrom(declared: ModelDeclaration, source: Source): Model {
  const limit = declared.max_output_tokens
  return {
    name: declared.name,
    kind: declared.kind,
    interfaces: declared.interfaces,
    protocols: protocolsOf(declared),
    displayName: declared.display_name ?? declared.name,
    // Names start with their family, which is as close to an owner as callers get.
    ownedBy: declared.name.split('-', 1)[0]!,
    ...(limit === undefined ? {} : { maxOutputTokens: limit }),
    source,
  }
}

const nanosOf = (value: string): bigint => parseNanos(value)!

function ratesFrom(declared: z.infer<typeof tokenRates>): TokenRates {
  const { input, output, cache_read, cache_write } = declared
  return {
    inputNanos: nanosOf(input),
    outputNanos: nanosOf(output),
    ...(cache_read === undefined ? {} : { cacheReadNanos: nanosOf(cache_read) }),
    ...(cache_write === undefined ? {} : { cacheWriteNanos: nanosOf(cache_write) }),
  }
}

export function termsFrom(declared: PriceDeclaration): PriceTerms {
  switch (declared.unit) {
    case 'token': {
      const tiers = declared.tiers ?? [{ per_million: declared.per_million! }]
      return {
        unit: 'token',
        tiers: tiers.map(({ per_million, up_to }) =>
          up_to === undefined ? ratesFrom(per_million) : { upTo: up_to, ...ratesFrom(per_million) },
        ),
      }
    }
    case 'image':
      return { unit: 'image', perImageNanos: nanosOf(declared.per_image) }
    case 'video_second': {
      const tiers = Object.entries(declared.per_second)
      const nanos = tiers.map(([tier, value]) => [tier, nanosOf(value)] as const)
      return { unit: 'video_second', perSecondNanos: Object.fromEntries(nanos) }
    }
    case 'video_token':
      return { unit: 'video_token', perMillionNanos: nanosOf(declared.per_million) }
  }
}
