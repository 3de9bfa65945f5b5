// Lists of the admin API, page after page, and what has come on top of one since it was read.
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import { ask, type Page, type Query } from './api.ts'

const pageRows = 50

export interface List<T> {
  rows: T[]
  isLoading: boolean
  error: Error | null
  hasMore: boolean
  isLoadingMore: boolean
  more(): void
  again(): void
}

const listKey = (path: string, query: Query) => ['list', path, query]

/** `everyMs` asks again by itself, for what is live. */
export function useList<T>(path: string, query: Query = {}, everyMs?: number): List<T> {
  const result = useInfiniteQuery({
    queryKey: listKey(path, query),
    queryFn: ({ pageParam, signal }) =>
      ask<Page<T>>('GET', path, {
        query: { limit: pageRows, ...query, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    // Whoever comes back to the window goes on reading where they were.
    refetchOnWindowFocus: false,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
  })
  return {
    rows: result.data?.pages.flatMap(({ items }) => items) ?? [],
    isLoading: result.isLoading,
    error: result.error,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    more: () => void result.fetchNextPage(),
    again: () => void result.refetch(),
  }
}

export interface Newer {
  count: number
  /** There are more than one page of them. */
  isMore: boolean
  /** Puts them on top. */
  take(): void
}

export interface NewerOptions<T> {
  path: string
  query: Query
  keyOf: (row: T) => string
  everyMs: number
  /** Taken as they come. */
  isLive: boolean
}

/** For lists whose rows never change: asks for the first page alone, however many are loaded. */
export function useNewer<T>(list: List<T>, options: NewerOptions<T>): Newer {
  const { path, query, keyOf, everyMs, isLive } = options
  const questions = useQueryClient()
  const { data } = useQuery({
    queryKey: ['newer', path, query],
    queryFn: ({ signal }) =>
      ask<Page<T>>('GET', path, { query: { limit: pageRows, ...query }, signal }),
    refetchInterval: everyMs,
    staleTime: everyMs,
    enabled: !list.isLoading,
  })
  const items = data?.items ?? []
  const known = new Set(list.rows.map(keyOf))
  const at = items.findIndex((row) => known.has(keyOf(row)))
  const fresh = at === -1 ? items : items.slice(0, at)
  const take = () => {
    if (fresh.length === 0) return
    // Nothing of it is here: what lies between is not known.
    if (at === -1) {
      void questions.refetchQueries({ queryKey: listKey(path, query) }, { cancelRefetch: false })
      return
    }
    questions.setQueryData<InfiniteData<Page<T>>>(listKey(path, query), (before) => {
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
