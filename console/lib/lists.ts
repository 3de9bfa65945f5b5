// Lists of the admin API, page after page, and what has come on top of one since it was read.
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import { api, type Page, type Query } from './api.ts'

const pageRows = 50

export interface List<T> {
  rows: T[]
  isLoading: boolean
  error: Error | null
  hasMore: boolean
  isLoadingMore: boolean
  loadMore(): void
  refetch(): void
}

const listKey = (path: string, query: Query) => ['list', path, query]

/** `refetchMs` asks again by itself, for what is live. */
export function useList<T>(path: string, query: Query = {}, refetchMs?: number): List<T> {
  const result = useInfiniteQuery({
    queryKey: listKey(path, query),
    queryFn: ({ pageParam, signal }) =>
      api<Page<T>>('GET', path, {
        query: { limit: pageRows, ...query, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // Whoever comes back to the window goes on reading where they were.
    refetchOnWindowFocus: false,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
  })
  return {
    rows: result.data?.pages.flatMap(({ items }) => items) ?? [],
    isLoading: result.isLoading,
    error: result.error,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    loadMore: () => void result.fetchNextPage(),
    refetch: () => void result.refetch(),
  }
}

export interface NewRows {
  count: number
  /** There are more than one page of them. */
  isMore: boolean
  /** Puts them on top. */
  take(): void
}

export interface NewRowsOptions<T> {
  path: string
  query: Query
  rowKey: (row: T) => string
  refetchMs: number
  /** Taken as they come. */
  isLive: boolean
}

/** For lists whose rows never change: asks for the first page alone, however many are loaded. */
export function useNewRows<T>(list: List<T>, options: NewRowsOptions<T>): NewRows {
  const { path, query, rowKey, refetchMs, isLive } = options
  const queryClient = useQueryClient()
  const { data } = useQuery({
    queryKey: ['newer', path, query],
    queryFn: ({ signal }) =>
      api<Page<T>>('GET', path, { query: { limit: pageRows, ...query }, signal }),
    refetchInterval: refetchMs,
    staleTime: refetchMs,
    enabled: !list.isLoading,
  })
  const items = data?.items ?? []
  const known = new Set(list.rows.map(rowKey))
  const at = items.findIndex((row) => known.has(rowKey(row)))
  const fresh = at === -1 ? items : items.slice(0, at)
  const take = () => {
    if (fresh.length === 0) return
    // Nothing of it is here: what lies between is not known.
    if (at === -1) {
      void queryClient.refetchQueries({ queryKey: listKey(path, query) }, { cancelRefetch: false })
      return
    }
    queryClient.setQueryData<InfiniteData<Page<T>>>(listKey(path, query), (before) => {
      const [first, ...rest] = before?.pages ?? []
      if (before === undefined || first === undefined) return before
      return { ...before, pages: [{ ...first, items: [...fresh, ...first.items] }, ...rest] }
    })
  }
  useEffect(() => {
    if (isLive) take()
  })
  return { count: fresh.length, isMore: at === -1 && items.length >= pageRows, take }
}
