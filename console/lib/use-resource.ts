// One resource of the admin API, by its path and query.
import { type UseQueryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Query } from './api.ts'

type Options<T> = Omit<UseQueryOptions<T>, 'queryKey' | 'queryFn' | 'enabled'> & {
  query?: Query
  enabled?: boolean
  /**
   * Sent while the page is still being drawn; otherwise when all of it is. Not for tabs, which are drawn before they
   * are opened.
   */
  isEarly?: true
}

export function useResource<T>(
  path: string,
  { query, enabled = true, isEarly, ...options }: Options<T> = {},
) {
  const client = useQueryClient()
  const asked = {
    queryKey: ['resource', path, query],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      api<T>('GET', path, { ...(query && { query }), signal }),
  }
  if (isEarly && enabled && client.getQueryState(asked.queryKey) === undefined) {
    void client.prefetchQuery(asked)
  }
  return useQuery<T>({ ...asked, enabled, ...options })
}
