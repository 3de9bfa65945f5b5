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

/** None where nothing is selected. `nameOf`: as the box is called to those who hear it. */
export function selectColumn<T extends { id: string }>(
  selection: Selection | undefined,
  title: string,
  nameOf: (row: T) => string,
  canSelect: (row: T) => boolean,
): Column<T>[] {
  if (selection === undefined) return []
  const { ids, toggle } = selection
  const cell = (row: T) =>
    canSelect(row) && (
      <Checkbox
        size="xs"
        aria-label={`${title} ${nameOf(row)}`}
        checked={ids.has(row.id)}
        onChange={() => toggle(row.id)}
        // A click on the row opens the drawer.
        onClick={(event) => event.stopPropagation()}
      />
    )
  return [{ title, id: 'select', width: '70px', cell }]
}
