// One row of a table: as cells in a line, or as a card on a narrow screen.
import type { KeyboardEvent, ReactNode } from 'react'
import { privateColumns, useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { quiet } from '../values.tsx'
import type { Named } from './columns.ts'

interface RowProps<T> {
  row: T
  index: number
  columns: readonly Named<T>[]
  isOpened: boolean
  onOpen?: ((row: T) => void) | undefined
  /** Measures a card, which is as high as its content. */
  measure?: (element: HTMLElement | null) => void
}

function useRow<T>({ row, isOpened, onOpen }: RowProps<T>) {
  const open = onOpen === undefined ? undefined : () => onOpen(row)
  return {
    'data-opened': isOpened || undefined,
    'data-clickable': open !== undefined || undefined,
    tabIndex: open === undefined ? -1 : 0,
    onClick: open,
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      if (event.key === 'Enter' && event.target === event.currentTarget) open?.()
    },
  }
}

function useCellClass(): (column: { title: string; isPrivate?: boolean }) => string | undefined {
  const hidden = privateColumns(useMessages())
  return ({ title, isPrivate = false }) =>
    isPrivate || hidden.includes(title) ? privateClass : undefined
}

/** Text that is cut can be read in full on hover. */
const titleOf = (content: ReactNode): string | undefined =>
  typeof content === 'string' ? content : undefined

export function LineRow<T>(props: RowProps<T> & { template: string; heightPx: number }) {
  const { row, columns, template, heightPx } = props
  const classOf = useCellClass()
  return (
    <div
      role="row"
      className="table-row"
      style={{ gridTemplateColumns: template, height: heightPx }}
      {...useRow(props)}
    >
      {columns.map((column) => {
        const content = column.cell(row)
        return (
          <div
            key={column.id}
            role="cell"
            data-align={column.align}
            title={titleOf(content)}
            className={classOf(column)}
          >
            {quiet(content)}
          </div>
        )
      })}
    </div>
  )
}

export function CardRow<T>(props: RowProps<T>) {
  const { row, index, columns, measure } = props
  const classOf = useCellClass()
  return (
    <div role="row" className="table-card" data-index={index} ref={measure} {...useRow(props)}>
      {columns.map((column) => (
        <div key={column.id} role="cell">
          {column.title !== '' && <span className="table-card-title">{column.title}</span>}
          <span className={classOf(column)}>{quiet(column.cell(row))}</span>
        </div>
      ))}
    </div>
  )
}
