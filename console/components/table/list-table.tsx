// A list with filters, chosen columns, sorting and the open row. Filters, sorting and the open row are part
// of the address; columns are remembered.
import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { type List, tableProps } from '../../lib/lists.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { NoMatches } from '../empty-state.tsx'
import { ColumnMenu, useColumnChoice } from './column-menu.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { type Filter, FilterBar, useFilters } from './filter-bar.tsx'
import { type ServedColumns, sortName } from './served-sort.ts'
import type { SortingState } from './use-sorted.ts'

interface ListTableProps<T> {
  label: string
  list: List<T>
  columns: readonly Column<T>[]
  rowKey: (row: T) => string
  filters?: readonly Filter[]
  /** Shown when the list has no rows at all. */
  empty?: ReactNode
  /** Columns in whose order the list has come, where the address asks for it. */
  served?: ServedColumns
  /** Rows do not open a drawer. */
  isFlat?: boolean
  /** In place of the filters: what finds rows. */
  lead?: ReactNode
  /** Beside the filters. */
  tools?: ReactNode
  /** Between the filters and the rows. */
  children?: ReactNode
}

const noFilters: readonly Filter[] = []

function useSorting(): [SortingState, (next: SortingState) => void] {
  const [text = '', setText] = useQueryValue(sortName)
  const id = text.replace(/^-/, '')
  const set = ([first]: SortingState) =>
    setText(first && `${first.desc ? '-' : ''}${first.id}`, 'replace')
  return [id === '' ? [] : [{ id, desc: text.startsWith('-') }], set]
}

export function ListTable<T>(props: ListTableProps<T>) {
  const { label, list, columns, rowKey, filters = noFilters, empty, isFlat = false } = props
  const [opened, setOpened] = useQueryValue('open')
  const [choice, setChoice] = useColumnChoice()
  const [sorting, setSorting] = useSorting()
  const set = useFilters(filters)
  const isFiltered = Object.values(set).some((value) => value !== undefined)
  const clear = () => setQuery(Object.fromEntries(filters.map(({ name }) => [name, undefined])))
  return (
    <>
      <Group justify="space-between" gap="xs">
        {filters.length > 0 ? (
          <FilterBar filters={filters} extraParams={[sortName]} />
        ) : (
          <div style={{ flex: '1 1 200px', maxWidth: 320 }}>{props.lead}</div>
        )}
        <Group gap="xs">
          {props.tools}
          <ColumnMenu columns={columns} choice={choice} onChoice={setChoice} />
        </Group>
      </Group>
      {props.children}
      <DataTable
        label={label}
        columns={columns}
        choice={choice}
        sorting={sorting}
        onSorting={setSorting}
        {...(props.served && { served: props.served })}
        {...tableProps(list)}
        rowKey={rowKey}
        {...(!isFlat && { opened, onOpen: (row: T) => setOpened(rowKey(row)) })}
        empty={isFiltered ? <NoMatches onClear={clear} /> : empty}
      />
    </>
  )
}
