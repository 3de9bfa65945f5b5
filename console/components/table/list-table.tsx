// A list with filters, column selection, rows and the open row. All of that is part of the address.
import { Button, Checkbox, Group, Popover, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { type List, tableProps } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { NoMatches } from '../empty-state.tsx'
import { type Column, DataTable } from './data-table.tsx'
import { type Filter, FilterBar, useFilters } from './filter-bar.tsx'

/** In the address: the numbers of the columns that are not shown. */
const hideName = 'hide'

interface ListTableProps<T> {
  label: string
  list: List<T>
  columns: readonly Column<T>[]
  rowKey: (row: T) => string
  filters?: readonly Filter[]
  /** Shown when the list has no rows at all. */
  empty?: ReactNode
  /** Rows do not open a drawer. */
  isFlat?: boolean
  /** Beside the filters. */
  tools?: ReactNode
  /** Between the filters and the rows. */
  children?: ReactNode
}

const noFilters: readonly Filter[] = []

export function ListTable<T>(props: ListTableProps<T>) {
  const { label, list, columns, rowKey, filters = noFilters, empty, isFlat = false } = props
  const [opened, setOpened] = useQueryValue('open')
  const [hide = ''] = useQueryValue(hideName)
  const hidden = new Set(
    hide
      .split(',')
      .filter((text) => /^\d+$/.test(text))
      .map(Number),
  )
  const set = useFilters(filters)
  const isFiltered = Object.values(set).some((value) => value !== undefined)
  const clear = () => setQuery(Object.fromEntries(filters.map(({ name }) => [name, undefined])))
  const shown = columns.filter((_, i) => !hidden.has(i))
  return (
    <>
      <Group justify="space-between" gap="xs">
        {filters.length > 0 ? <FilterBar filters={filters} extraParams={[hideName]} /> : <span />}
        <Group gap="xs">
          {props.tools}
          <ColumnMenu columns={columns} hidden={hidden} />
        </Group>
      </Group>
      {props.children}
      <DataTable
        label={label}
        columns={shown.length === 0 ? columns : shown}
        {...tableProps(list)}
        rowKey={rowKey}
        {...(!isFlat && { opened, onOpen: (row: T) => setOpened(rowKey(row)) })}
        empty={isFiltered ? <NoMatches onClear={clear} /> : empty}
      />
    </>
  )
}

function ColumnMenu<T>({
  columns,
  hidden,
}: {
  columns: readonly Column<T>[]
  hidden: ReadonlySet<number>
}) {
  const t = useMessages()
  const toggle = (i: number) => {
    const next = new Set(hidden)
    if (!next.delete(i)) next.add(i)
    setQuery({ [hideName]: [...next].sort((a, b) => a - b).join(',') }, 'replace')
  }
  return (
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="subtle" size="xs" color="gray">
          {t('columns')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('columns')}>
        <Stack gap="xs">
          {columns.map(({ title }, i) => (
            <Checkbox
              key={title}
              size="xs"
              label={title}
              checked={!hidden.has(i)}
              onChange={() => toggle(i)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
