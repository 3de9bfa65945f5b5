// A plain table for a few rows that are all drawn. On a narrow screen every row is a card.
import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { privateClass } from '../../lib/privacy.ts'
import { ScrollBox } from '../scroll-box.tsx'
import { quiet } from '../values.tsx'
import type { Column } from './columns.ts'

export function SimpleTable<T>({
  label,
  columns,
  rows,
  rowKey,
  minWidth = 280,
  maxHeight,
  children,
}: {
  label: string
  columns: readonly (Omit<Column<T>, 'width'> | false)[]
  rows: readonly T[]
  rowKey: (row: T) => string
  /** In pixels, where rows are no cards. */
  minWidth?: number
  /** In CSS. */
  maxHeight?: string
  /** Rows below the others, such as a total. */
  children?: ReactNode
}) {
  const shown = columns.filter((column) => column !== false)
  const hasTitles = shown.some(({ title }) => title !== '')
  return (
    <ScrollBox label={label} minWidth={minWidth} {...(maxHeight !== undefined && { maxHeight })}>
      <Table aria-label={label} role="table" className="cards-on-phone">
        {hasTitles && (
          <Table.Thead role="rowgroup">
            <Table.Tr role="row">
              {shown.map(({ title, align }) => (
                <Table.Th key={title} role="columnheader" ta={align ?? 'left'}>
                  {title}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
        )}
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)} role="row">
              {shown.map(({ title, cell, align, isPrivate = false }, i) => (
                <Table.Td
                  key={title || String(i)}
                  role="cell"
                  data-label={title}
                  ta={align ?? 'left'}
                  {...(isPrivate && { className: privateClass })}
                >
                  {/* One thing beside its label, where a row is a card. */}
                  <div>{quiet(cell(row))}</div>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
          {children}
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}
