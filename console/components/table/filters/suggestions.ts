// Values that a filter suggests, asked for when its field is opened: names from the admin API, statuses and
// error codes from the traffic of the last month.
import { useQuery } from '@tanstack/react-query'
import { api, type Page } from '../../../lib/api.ts'
import type { TrafficRow } from '../../../lib/resources/traffic.ts'
import { periodOf } from '../../../lib/resources/usage.ts'
import { errorCodes } from '../../../lib/server/errors.ts'

export type SuggestionSource =
  | 'models'
  | 'channels'
  | 'accounts'
  | 'tokens'
  | 'status'
  | 'error_codes'

interface Suggestion {
  value: string
  label: string
}

const plain = (values: readonly string[]): Suggestion[] =>
  [...new Set(values)].map((value) => ({ value, label: value }))

interface Item {
  id?: string
  name: string
  account?: string | null
  display_name?: string | null
}

const listed = async (path: string): Promise<Item[]> =>
  (await api<Page<Item>>('GET', path, { query: { limit: 500 } })).items

const namesOf = async (path: string) => plain((await listed(path)).map(({ name }) => name))

const sources: Readonly<Record<SuggestionSource, () => Promise<Suggestion[]>>> = {
  models: () => namesOf('/models'),
  channels: () => namesOf('/channels'),
  accounts: async () =>
    (await listed('/accounts')).map(({ name, display_name }) => ({
      value: name,
      label: display_name == null ? name : `${name} · ${display_name}`,
    })),
  tokens: async () =>
    (await listed('/tokens')).map(({ id, name, account }) => ({
      value: id ?? name,
      label: `${account ?? ''} / ${name}`,
    })),
  async status() {
    const query = { ...periodOf(30), by: 'status' }
    const { items } = await api<{ items: TrafficRow[] }>('GET', '/traffic', { query })
    return plain(['failed', '4xx', '5xx', ...items.map(({ status }) => String(status)).sort()])
  },
  error_codes: () => Promise.resolve(plain(Object.keys(errorCodes).sort())),
}

const none: Suggestion[] = []

export function useSuggestions(source: SuggestionSource | undefined): readonly Suggestion[] {
  const { data } = useQuery({
    queryKey: ['suggestions', source],
    queryFn: () => (source === undefined ? none : sources[source]()),
    enabled: source !== undefined,
    staleTime: 60_000,
    // Without them a text can still be typed.
    retry: false,
  })
  return data ?? none
}
