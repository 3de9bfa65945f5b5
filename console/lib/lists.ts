// Lists of the admin API, page after page.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
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

/** `everyMs` asks again by itself, for what is live. */
export function useList<T>(path: string, query: Query = {}, everyMs?: number): List<T> {
  const result = useInfiniteQuery({
    queryKey: ['list', path, query],
    queryFn: ({ pageParam, signal }) =>
      ask<Page<T>>('GET', path, {
        query: { limit: pageRows, ...query, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
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
