// Every price version there is, a page of 500 at a time.
import { useQuery } from '@tanstack/react-query'
import { api, type Page } from '../../lib/api.ts'
import type { Price } from '../../lib/resources/price.ts'

export function usePrices() {
  return useQuery({
    queryKey: ['all-prices'],
    queryFn: async () => {
      const all: Price[] = []
      let cursor: string | undefined
      do {
        const query = { limit: 500, cursor }
        const page: Page<Price> = await api('GET', '/prices', { query })
        all.push(...page.items)
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined)
      return all
    },
  })
}
