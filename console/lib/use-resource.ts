// One resource of the admin API, by its path and query.
import { type UseQueryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Query } from './api.ts'

type Options<T> = Omit<UseQueryOptions<T>, 'queryKey' | 'queryFn'> & { query?: Query }

export function useResource<T>(path: string, { query, ...options }: Options<T> = {}) {
  const client = useQueryClient()
  const asked = {
    queryKey: ['resource', path, query],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      api<T>('GET', path, { ...(query && { query }), signal }),
  }
  // Sent while the page is still being drawn: a query itself would wait until all of it is.
  const isWanted = options.enabled === undefined || options.enabled === true
  if (isWanted && client.getQueryState(asked.queryKey) === undefined) {
    void client.prefetchQuery(asked)
  }
  return useQuery<T>({ ...asked, ...options })
}
