// Filters in the address: each a choice, a time or a text with suggestions, shown as labelled chips that can
// be changed and removed, and saved under names.
import { Button, Group, Menu } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { setQuery } from '../../lib/router.tsx'
import { FilterChip } from './filters/filter-chip.tsx'
import { FilterField } from './filters/filter-field.tsx'
import { type Filter, useFilters } from './filters/filters.ts'
import { SavedViews } from './saved-views.tsx'

export { channelFilter, type Filter, useFilters } from './filters/filters.ts'

export function FilterBar({
  filters,
  extraParams = [],
}: {
  filters: readonly Filter[]
  /** What else of the address a saved view has. */
  extraParams?: readonly string[]
}) {
  const t = useMessages()
  const set = useFilters(filters)
  const [editing, setEditing] = useState<string>()
  const active = filters.filter(({ name }) => set[name] !== undefined || name === editing)
  const rest = filters.filter((filter) => !active.includes(filter))
  const clear = () => {
    setEditing(undefined)
    setQuery(Object.fromEntries(filters.map(({ name }) => [name, undefined])))
  }
  const change = (name: string) => (value: string | undefined) => {
    setEditing(undefined)
    setQuery({ [name]: value })
  }
  return (
    <Group gap="xs" wrap="wrap">
      {active.map((filter) => {
        const { name } = filter
        const common = { filter, value: set[name], onChange: change(name) }
        return name === editing ? (
          <FilterField key={name} {...common} onLeave={() => setEditing(undefined)} />
        ) : (
          <FilterChip key={name} {...common} onEdit={() => setEditing(name)} />
        )
      })}
      {rest.length > 0 && (
        // The field that opens takes the focus, not the button that opened it.
        <Menu withinPortal returnFocus={false}>
          <Menu.Target>
            <Button variant="default" size="xs">
              + {t('add_filter')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {rest.map(({ name, title }) => (
              <Menu.Item key={name} onClick={() => setEditing(name)}>
                {title}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      {Object.values(set).some((value) => value !== undefined) && (
        <Button variant="subtle" size="xs" onClick={clear}>
          {t('clear')}
        </Button>
      )}
      <SavedViews names={[...filters.map(({ name }) => name), ...extraParams]} />
    </Group>
  )
}
