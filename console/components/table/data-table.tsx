// Rows in columns. A click or Enter opens one, j and k walk through them; only the rows in sight are
// drawn, so that thousands cost as little as ten.
import { Box, Button, Center, Skeleton, Stack, Text } from '@mantine/core'
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react'
import { privateColumns, useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { ErrorAlert } from '../page.tsx'

export interface Column<T> {
  title: string
  cell: (row: T) => ReactNode
  /** In CSS; the rest is shared out. */
  width?: string
  align?: 'right'
  /** Not for onlookers; accounts, tokens and prompts never are. */
  isPrivate?: boolean
}

/** A column by its title, its width in CSS and its cell; numbers stand to the right. */
export const column = <T,>(
  title: string,
  width: string,
  cell: Column<T>['cell'],
  rest: Pick<Column<T>, 'align' | 'isPrivate'> = {},
): Column<T> => ({ title, width, cell, ...rest })

export const numberColumn = <T,>(
  title: string,
  width: string,
  cell: Column<T>['cell'],
): Column<T> => ({ title, width, cell, align: 'right' })

interface DataTableProps<T> {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  rowKey: (row: T) => string
  /** The key of the row whose drawer is open. */
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
  const { columns, rows, rowKey, opened, onOpen, rowHeight = 40, height = '70vh' } = props
  const t = useMessages()
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const inSight = Math.ceil((box.current?.clientHeight ?? 800) / rowHeight)
  const first = Math.max(0, Math.floor(top / rowHeight) - margin)
  const last = Math.min(rows.length, first + inSight + 2 * margin)
  const at = rows.findIndex((row) => rowKey(row) === opened)
  const step = (by: number) => {
    const next = rows[at === -1 ? 0 : at + by]
    if (next !== undefined && onOpen !== undefined) onOpen(next)
  }
  useShortcuts(onOpen === undefined ? {} : { j: () => step(1), k: () => step(-1) })
  const template = columns.map(({ width = 'minmax(90px, 1fr)' }) => width).join(' ')
  useStableScroll(box, rows, rowKey, rowHeight)

  if (props.isLoading) return <Waiting template={template} count={columns.length} />
  if (rows.length === 0) {
    return (
      <>
        <ErrorAlert error={props.error} />
        <Center p="xl">{props.empty ?? <Text c="dimmed">{t('none')}</Text>}</Center>
      </>
    )
  }
  return (
    <>
      <ErrorAlert error={props.error} />
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
            <Row key={rowKey(row)} row={row} template={template} table={props} height={rowHeight} />
          ))}
          <div style={{ height: (rows.length - last) * rowHeight }} role="presentation" />
        </div>
      </Box>
      {props.hasMore && (
        <Center>
          <Button variant="default" loading={props.isLoadingMore ?? false} onClick={props.onMore}>
            {t('more')}
          </Button>
        </Center>
      )}
    </>
  )
}

/** BarChart as wide as the columns will be. */
const Waiting = ({ template, count }: { template: string; count: number }) => (
  <Stack gap={0} aria-busy="true" className="table-box">
    {skeletons.map((key) => (
      <div
        key={key}
        className="table-row"
        style={{ gridTemplateColumns: template, height: 40, minWidth: 'max-content' }}
      >
        {Array.from({ length: count }, (_, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
          <div key={i}>
            <Skeleton height={14} />
          </div>
        ))}
      </div>
    ))}
  </Stack>
)

/** Keeps the rows in sight where they are when others are put on top. */
function useStableScroll<T>(
  box: RefObject<HTMLDivElement | null>,
  rows: readonly T[],
  rowKey: (row: T) => string,
  rowHeight: number,
): void {
  const before = useRef<string>(undefined)
  useLayoutEffect(() => {
    const at = rows.findIndex((row) => rowKey(row) === before.current)
    if (at > 0 && box.current !== null && box.current.scrollTop > 0) {
      box.current.scrollTop += at * rowHeight
    }
    before.current = rows[0] === undefined ? undefined : rowKey(rows[0])
  })
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
  const { columns, rowKey, opened, onOpen } = table
  const hidden = privateColumns(useMessages())
  const open = onOpen === undefined ? undefined : () => onOpen(row)
  return (
    <div
      role="row"
      className="table-row"
      data-opened={rowKey(row) === opened || undefined}
      data-clickable={open !== undefined || undefined}
      style={{ gridTemplateColumns: template, height }}
      tabIndex={open === undefined ? -1 : 0}
      onClick={open}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget) open?.()
      }}
    >
      {columns.map((column) => (
        <div
          key={column.title}
          role="cell"
          data-align={column.align}
          className={column.isPrivate || hidden.includes(column.title) ? privateClass : undefined}
        >
          {column.cell(row)}
        </div>
      ))}
    </div>
  )
}
