// The heading of a column. A click sorts by it, where the whole list is here or the server sorts.
import { UnstyledButton } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import type { Named } from './columns.ts'

type Direction = false | 'asc' | 'desc'

const ariaSort = { asc: 'ascending', desc: 'descending' } as const
const arrows = { asc: ' ▲', desc: ' ▼' } as const

export function Heading<T>({
  column: { title, align, sort },
  direction,
  canSort,
  onSort,
}: {
  column: Named<T>
  direction: Direction
  canSort: boolean
  onSort: () => void
}) {
  const t = useMessages()
  const sorted = direction === false ? undefined : ariaSort[direction]
  return (
    <div role="columnheader" data-align={align} aria-sort={sorted}>
      {sort === undefined ? (
        title
      ) : canSort ? (
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
