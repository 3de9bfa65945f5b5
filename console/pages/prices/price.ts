// Models and price versions as the admin API shows them.
export interface Model {
  name: string
  kind: string
  interfaces: string[]
  display_name: string
  callable: boolean
  price_id: string | null
  source: string
}

export interface Rates {
  input: string
  output: string
  cache_read?: string
  cache_write?: string
}

export interface Price {
  id: string
  model: string
  account: string | null
  unit: 'token' | 'image' | 'video_second' | 'video_token'
  per_million?: Rates | string
  tiers?: { up_to?: number; per_million: Rates }[]
  per_image?: string | Record<string, string>
  per_second?: Record<string, string>
  effective_from: string
  current: boolean
  source: string
}

/** What of a version is its price, in the words in which one is declared. */
export function termsOf(price: Price): Record<string, unknown> {
  const { unit, per_million, tiers, per_image, per_second } = price
  return Object.fromEntries(
    Object.entries({ unit, per_million, tiers, per_image, per_second }).filter(
      ([, value]) => value !== undefined,
    ),
  )
}

export interface Preview {
  exact: boolean
  items: {
    account: string
    model: string
    charged: string
    would_charge: string | null
    difference: string | null
  }[]
  total: {
    charged?: string
    would_charge?: string | null
    difference?: string | null
    at_least?: string
    at_most?: string
  }
}

/** Last month, by UTC. */
export function lastMonth(): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1))
    .toISOString()
    .slice(0, 7)
}
