// The filters of a list, and their values in the address.
import { useLocation } from '../../../lib/router.tsx'
import type { SuggestionSource } from './suggestions.ts'

export interface Filter {
  /** Its name in the address and in the admin API. */
  name: string
  title: string
  /** Known values; without them it is a text. */
  options?: readonly (string | { value: string; label: string })[]
  /** Values to suggest while a text is typed. */
  suggest?: SuggestionSource
  /** A moment, chosen by the clock of the reader's zone. */
  isTime?: boolean
}

/** For staff: callers do not know channels. */
export const channelFilter = (title: string): Filter => ({
  name: 'channel',
  title,
  suggest: 'channels',
})

/** What of the address is a filter, ready to be handed to a list. */
export function useFilters(filters: readonly Filter[]): Record<string, string | undefined> {
  const { query } = useLocation()
  return Object.fromEntries(filters.map(({ name }) => [name, query.get(name) ?? undefined]))
}
