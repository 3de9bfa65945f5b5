// One resource of the admin API, by its path and query.
import { type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { api, type Query } from './api.ts'

type Options<T> = Omit<UseQueryOptions<T>, 'queryKey' | 'queryFn'> & { query?: Query }

const resourceKey = (path: string, query?: Query) => ['resource', path, query]

export const useResource = <T>(path: string, { query, ...options }: Options<T> = {}) =>
  useQuery<T>({
    queryKey: resourceKey(path, query),
    queryFn: ({ signal }) => api<T>('GET', path, { ...(query && { query }), signal }),
    ...options,
  })
