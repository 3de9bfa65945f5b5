// What directives make an answer say of its price: the service tier and the place that served it, and how many of
// its tokens are sound or images. No protocol has its shape here.
import type { Directives } from '../http/directives.ts'

type Json = Readonly<Record<string, unknown>>

const usual = new Set<unknown>([undefined, null, 'auto', 'default', 'standard', 'standard_only'])

/** The tier that a directive names, else the one that was asked for; undefined: the usual one. */
export function servedTier(fields: Json, { tier }: Directives): string | undefined {
  if (tier !== undefined) return tier
  const asked = fields['service_tier'] ?? fields['serviceTier']
  const name = typeof asked === 'string' ? asked.toLowerCase() : undefined
  return usual.has(name) ? undefined : name
}

export interface MediaTokens {
  audio: number
  image: number
}

/** Of all tokens of one side. */
export function mediaOf(all: number, audio = 0, image = 0): MediaTokens | undefined {
  if (audio + image === 0) return undefined
  const sound = Math.min(audio, all)
  return { audio: sound, image: Math.min(image, all - sound) }
}

/** In the details of chat and responses. */
export const mediaDetails = (media: MediaTokens | undefined): object =>
  media === undefined ? {} : { audio_tokens: media.audio, image_tokens: media.image }
