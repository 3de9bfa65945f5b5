// Rows in columns. A click or Enter opens one, j and k walk through them; only the rows in sight are
// drawn, so that thousands cost as little as ten.
import { Box, Button, Center, Skeleton, Stack, Text } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { useKeys } from '../lib/keys.ts'
import { useWords } from '../lib/words.ts'
import { ErrorNote } from './page.tsx'
import { common } from './words.ts'

export interface Column<T> {
  title: string
  cell: (row: T) => ReactNode
  /** In CSS; the rest is shared out. */
  width?: string
  align?: 'right'
  /** Left out on a narrow screen. */
  wide?: boolean
}

export interface DataTableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  /** The key of the row whose sheet is open. */
  opened?: string | undefined
  onOpen?: (row: T) => void
  isLoading?: boolean
  error?: Error | null
  empty?: ReactNode
  hasMore?: boolean
  isLoadingMore?: boolean
  onMore?: () => void
  /** In pixels; all rows are as high. */
  rowHeight?: number
  /** Of the part that scrolls. */
  height?: string
}

const skeletons = ['a', 'b', 'c', 'd', 'e', 'f']
/** Rows drawn above and below what is in sight. */
const margin = 10

export function DataTable<T>(props: DataTableProps<T>) {
  const { columns, rows, keyOf, opened, onOpen, rowHeight = 40, height = '70vh' } = props
  const say = useWords(common)
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const inSight = Math.ceil((box.current?.clientHeight ?? 800) / rowHeight)
  const first = Math.max(0, Math.floor(top / rowHeight) - margin)
  const last = Math.min(rows.length, first + inSight + 2 * margin)
  const at = rows.findIndex((row) => keyOf(row) === opened)
  const step = (by: number) => {
    const next = rows[at === -1 ? 0 : at + by]
    if (next !== undefined && onOpen !== undefined) onOpen(next)
  }
  useKeys(onOpen === undefined ? {} : { j: () => step(1), k: () => step(-1) })
  const template = columns.map(({ width = 'minmax(90px, 1fr)' }) => width).join(' ')

  if (props.isLoading) {
    return (
      <Stack gap={6} aria-busy="true">
        {skeletons.map((key) => (
          <Skeleton key={key} height={rowHeight - 8} />
        ))}
      </Stack>
    )
  }
  if (rows.length === 0) {
    return (
      <>
        <ErrorNote error={props.error} />
        <Center p="xl">{props.empty ?? <Text c="dimmed">{say('none')}</Text>}</Center>
      </>
    )
  }
  return (
    <>
      <ErrorNote error={props.error} />
      <Box
        ref={box}
        className="table-box"
        style={{ maxHeight: height }}
        onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        tabIndex={0}
        role="region"
        aria-label={props.label}
      >
        <div role="table" aria-label={props.label} aria-rowcount={rows.length} className="table">
          <div
            role="row"
            className="table-row table-head"
            style={{ gridTemplateColumns: template }}
          >
            {columns.map((column) => (
              <div key={column.title} role="columnheader" data-align={column.align}>
                {column.title}
              </div>
            ))}
          </div>
          <div style={{ height: first * rowHeight }} role="presentation" />
          {rows.slice(first, last).map((row) => (
            <Row key={keyOf(row)} row={row} template={template} table={props} height={rowHeight} />
          ))}
          <div style={{ height: (rows.length - last) * rowHeight }} role="presentation" />
        </div>
      </Box>
      {props.hasMore && (
        <Center>
          <Button variant="default" loading={props.isLoadingMore ?? false} onClick={props.onMore}>
            {say('more')}
          </Button>
        </Center>
      )}
    </>
  )
}

function Row<T>({
  row,
  template,
  table,
  height,
}: {
  row: T
  template: string
  table: DataTableProps<T>
  height: number
}) {
  const { columns, keyOf, opened, onOpen } = table
  const open = onOpen === undefined ? undefined : () => onOpen(row)
  return (
    <div
      role="row"
      className="table-row"
      data-opened={keyOf(row) === opened || undefined}
      data-clickable={open !== undefined || undefined}
      style={{ gridTemplateColumns: template, height }}
      tabIndex={open === undefined ? -1 : 0}
      onClick={open}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) open?.()
      }}
    >
      {columns.map((column) => (
        <div key={column.title} role="cell" data-align={column.align}>
          {column.cell(row)}
        </div>
      ))}
    </div>
  )
}
