// Lists of the admin API, page by page, and rows that were added since.
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

/** What a table shows of a list. */
export const tableProps = <T>(list: List<T>) => ({
  rows: list.rows,
  isLoading: list.isLoading,
  error: list.error,
  hasMore: list.hasMore,
  isLoadingMore: list.isLoadingMore,
  onMore: list.loadMore,
})

const listKey = (path: string, query: Query) => ['list', path, query]

/** `refetchMs`: for live lists. */
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
    // The rows stay where they are when the window gets the focus again.
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

interface NewRows {
  count: number
  /** There are more than one page of them. */
  isMore: boolean
  /** Puts them on top. */
  show(): void
}

interface NewRowsOptions<T> {
  path: string
  query: Query
  rowKey: (row: T) => string
  refetchMs: number
  /** Shown as they arrive. */
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
  const show = () => {
    if (fresh.length === 0) return
    // No known row among them: there may be others in between.
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
    if (isLive) show()
  })
  return { count: fresh.length, isMore: at === -1 && items.length >= pageRows, show }
}
