// Rows in columns, as wide as the page and as high as the list. A click or Enter opens a row, j and k walk
// through them; only the rows in sight are drawn. On a narrow screen rows are cards.
import { Button, Center, Skeleton, Stack, Text } from '@mantine/core'
import { type ReactNode, useRef, useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { useShortcuts } from '../../lib/shortcuts.ts'
import { ErrorAlert } from '../page.tsx'
import { SlowNote } from '../waiting.tsx'
import {
  type Choice,
  type Column,
  fitting,
  type Named,
  named,
  onCard,
  templateOf,
} from './columns.ts'
import { Heading } from './heading.tsx'
import { CardRow, LineRow } from './rows.tsx'
import type { ServedColumns } from './served-sort.ts'
import { useBounds } from './use-bounds.ts'
import { type SortingState, useSorted } from './use-sorted.ts'
import { useRowsInSight } from './virtual-rows.ts'

export { type Column, column, numberColumn, withUnit } from './columns.ts'

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
  /** In CSS: scrolls in a box of its own, as in a drawer. */
  height?: string
  /** Which columns the reader chose. */
  choice?: Choice
  sorting?: SortingState
  onSorting?: (next: SortingState) => void
  /** Columns in whose order the rows are already, where `sorting` names one. */
  served?: ServedColumns
}

/** Narrower than this, rows are cards. */
const minTablePx = 600
const noChoice: Choice = {}
const noneServed: ServedColumns = {}

export function DataTable<T>(props: DataTableProps<T>) {
  const t = useMessages()
  const frame = useRef<HTMLDivElement>(null)
  const bounds = useBounds(frame)
  const isNarrow = bounds.widthPx < minTablePx
  const all = named(props.columns)
  // In a box of its own, as in a drawer, there is no menu to choose columns by.
  const isBoxed = props.height !== undefined
  const space = isBoxed ? Number.POSITIVE_INFINITY : bounds.widthPx
  const choose = isNarrow && !isBoxed ? onCard : fitting
  const columns = choose(all, props.choice ?? noChoice, space)
  return (
    <div ref={frame}>
      <ErrorAlert error={props.error} />
      {props.isLoading ? (
        <Waiting columns={columns} />
      ) : props.rows.length === 0 ? (
        <Center p="xl">{props.empty ?? <Text c="dimmed">{t('none')}</Text>}</Center>
      ) : (
        <Rows
          key={isNarrow ? 'cards' : 'lines'}
          {...props}
          columns={columns}
          isNarrow={isNarrow}
          topPx={bounds.topPx}
        />
      )}
      {props.hasMore && props.rows.length > 0 && (
        <Center mt="sm">
          <Button variant="default" loading={props.isLoadingMore ?? false} onClick={props.onMore}>
            {t('more')}
          </Button>
        </Center>
      )}
    </div>
  )
}

type RowsProps<T> = Omit<DataTableProps<T>, 'columns'> & {
  columns: readonly Named<T>[]
  isNarrow: boolean
  topPx: number
}

function Rows<T>(props: RowsProps<T>) {
  const { columns, rowKey, opened, onOpen, isNarrow, rowHeight = 36, height } = props
  const box = useRef<HTMLDivElement>(null)
  const isWhole = props.hasMore !== true
  const [ownSorting, setOwnSorting] = useState<SortingState>([])
  const { sorting = ownSorting, onSorting = setOwnSorting, served = noneServed } = props
  const table = useSorted({
    ...{ columns, rows: props.rows, rowKey, sorting, onSorting, isWhole, served },
  })
  const { rows } = table
  useWalk(rows, props)
  const shown = useRowsInSight({
    ...{ box, rows, rowKey, isNarrow, rowHeightPx: rowHeight },
    ...{ topPx: props.topPx, isBoxed: height !== undefined },
  })
  const template = templateOf(columns)
  const rowProps = (row: T, index: number) => ({
    ...{ row, index, columns, onOpen, isOpened: rowKey(row) === opened },
  })
  return (
    <div
      ref={box}
      className="table-box"
      data-boxed={height !== undefined || undefined}
      {...(height !== undefined && {
        style: { maxHeight: height },
        tabIndex: 0,
        role: 'region',
        'aria-label': props.label,
      })}
    >
      <div role="table" aria-label={props.label} aria-rowcount={rows.length} className="table">
        {!isNarrow && (
          <div
            role="row"
            className="table-row table-head"
            style={{ gridTemplateColumns: template }}
          >
            {columns.map((column) => (
              <Heading
                key={column.id}
                column={column}
                canSort={isWhole || column.id in served}
                direction={table.directionOf(column.id)}
                onSort={() => table.toggle(column.id)}
              />
            ))}
          </div>
        )}
        <div style={{ height: shown.beforePx }} role="presentation" />
        {shown.items.map(({ index, key }) =>
          isNarrow ? (
            <CardRow key={key} {...rowProps(rows[index]!, index)} measure={shown.measure} />
          ) : (
            <LineRow
              key={key}
              {...rowProps(rows[index]!, index)}
              template={template}
              heightPx={rowHeight}
            />
          ),
        )}
        <div style={{ height: shown.afterPx }} role="presentation" />
      </div>
    </div>
  )
}

/** j and k open the next and the previous row. */
function useWalk<T>(
  rows: readonly T[],
  { rowKey, opened, onOpen }: Omit<DataTableProps<T>, 'columns'>,
): void {
  const step = (by: number) => {
    const at = rows.findIndex((row) => rowKey(row) === opened)
    const next = rows[at === -1 ? 0 : at + by]
    if (next !== undefined) onOpen?.(next)
  }
  useShortcuts(onOpen === undefined ? {} : { j: () => step(1), k: () => step(-1) })
}

const skeletons = ['a', 'b', 'c', 'd', 'e', 'f']

/** Bars as wide as the columns will be. */
const Waiting = <T,>({ columns }: { columns: readonly Named<T>[] }) => (
  <Stack gap={0} aria-busy="true" className="table-box">
    <SlowNote />
    {skeletons.map((key) => (
      <div
        key={key}
        className="table-row"
        style={{ gridTemplateColumns: templateOf(columns), height: 36 }}
      >
        {columns.map(({ id }) => (
          <div key={id}>
            <Skeleton height={10} radius="xl" />
          </div>
        ))}
      </div>
    ))}
  </Stack>
)
