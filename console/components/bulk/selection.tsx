// Which rows of a list are selected, and the column with their boxes.
import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import type { Column } from '../table/data-table.tsx'

export interface Selection {
  ids: ReadonlySet<string>
  toggle(id: string): void
  set(ids: Iterable<string>): void
}

export function useSelection(): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  return {
    ids,
    set: (next) => setIds(new Set(next)),
    toggle: (id) => {
      const next = new Set(ids)
      if (!next.delete(id)) next.add(id)
      setIds(next)
    },
  }
}

/** `nameOf`: as the box is called to those who hear it. */
export function selectColumn<T extends { id: string }>(
  { ids, toggle }: Selection,
  title: string,
  { nameOf, canSelect }: { nameOf: (row: T) => string; canSelect: (row: T) => boolean },
): Column<T> {
  return {
    title,
    id: 'select',
    width: '70px',
    cell: (row) =>
      canSelect(row) && (
        <Checkbox
          size="xs"
          aria-label={`${title} ${nameOf(row)}`}
          checked={ids.has(row.id)}
          onChange={() => toggle(row.id)}
          // A click on the row opens the drawer.
          onClick={(event) => event.stopPropagation()}
        />
      ),
  }
}
