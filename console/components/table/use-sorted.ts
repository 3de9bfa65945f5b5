// The rows of a table in the order of a column, by TanStack Table. Sorting is for whole lists: the first
// page of a longer one would be in an order that says nothing, unless the server has sorted it.
import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import { useMemo } from 'react'
import type { Named } from './columns.ts'
import type { ServedColumns } from './served-sort.ts'

const features = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
})

export type { SortingState }

interface Options<T> {
  columns: readonly Named<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string
  sorting: SortingState
  onSorting: (next: SortingState) => void
  isWhole: boolean
  served: ServedColumns
}

/** Text that is a number is sorted as one: amounts are text. */
function comparable(value: string | number | null | undefined): string | number | undefined {
  if (value === null || value === undefined || value === '') return undefined
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

function compare(a: string | number | undefined, b: string | number | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a).localeCompare(String(b), undefined, { numeric: true })
}

type Value = string | number | undefined
type ValueRow = { getValue: (id: string) => unknown }

const sortFn = (a: ValueRow, b: ValueRow, id: string): number =>
  compare(a.getValue(id) as Value, b.getValue(id) as Value)

interface Sorted<T> {
  rows: T[]
  directionOf: (id: string) => false | 'asc' | 'desc'
  /** The next order of a column: up, down, none. */
  toggle: (id: string) => void
}

export function useSorted<T>(options: Options<T>): Sorted<T> {
  const { columns, rows, rowKey, sorting, onSorting, isWhole, served } = options
  const isSortable = (id: string) => isWhole || id in served
  const data = useMemo(() => rows.map((row) => ({ row })), [rows])
  const table = useTable({
    features,
    columns: columns.map(({ id, sort }) => ({
      ...{
        id,
        sortFn,
        enableSorting: sort !== undefined && isSortable(id),
        sortUndefined: 'last' as const,
      },
      accessorFn: ({ row }: { row: T }) => comparable(sort?.(row)),
    })),
    data,
    getRowId: ({ row }) => rowKey(row),
    // As they came.
    manualSorting: sorting.some(({ id }) => id in served),
    enableMultiSort: false,
    state: { sorting },
    onSortingChange: (next) => onSorting(typeof next === 'function' ? next(sorting) : next),
  })
  return {
    rows: table.getRowModel().rows.map(({ original }) => original.row),
    // A part of a list is in its own order, whatever the address asks for.
    directionOf: (id) => (isSortable(id) ? (table.getColumn(id)?.getIsSorted() ?? false) : false),
    toggle: (id) => table.getColumn(id)?.toggleSorting(),
  }
}
