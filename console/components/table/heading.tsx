// The heading of a column. A click sorts by it, where the whole list is here.
import { UnstyledButton } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import type { Named } from './columns.ts'

type Direction = false | 'asc' | 'desc'

const ariaSort = { asc: 'ascending', desc: 'descending' } as const
const arrows = { asc: ' ▲', desc: ' ▼' } as const

export function Heading<T>({
  column: { title, align, sort },
  direction,
  isWhole,
  onSort,
}: {
  column: Named<T>
  direction: Direction
  /** No part of the list is left to load. */
  isWhole: boolean
  onSort: () => void
}) {
  const t = useMessages()
  const sorted = direction === false ? undefined : ariaSort[direction]
  return (
    <div role="columnheader" data-align={align} aria-sort={sorted}>
      {sort === undefined ? (
        title
      ) : isWhole ? (
        <UnstyledButton className="table-sort" onClick={onSort}>
          {title}
          <span aria-hidden="true">{direction === false ? '' : arrows[direction]}</span>
        </UnstyledButton>
      ) : (
        <span title={t('sort_whole')}>{title}</span>
      )}
    </div>
  )
}
