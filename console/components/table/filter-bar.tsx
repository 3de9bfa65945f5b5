// Filters in the address: each a choice, a time or a text, shown as chips that can be removed, and saved
// under names.
import { Button, CloseButton, Group, Menu, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../lib/messages.ts'
import { setQuery, useLocation } from '../../lib/router.tsx'
import { SavedViews } from './saved-views.tsx'

export interface Filter {
  /** Its name in the address and in the admin API. */
  name: string
  title: string
  /** Known values; without them it is a text. */
  options?: readonly (string | { value: string; label: string })[]
  /** A moment, chosen by the clock of who looks. */
  isTime?: boolean
}

/** What of the address is a filter, ready to be handed to a list. */
export function useFilters(filters: readonly Filter[]): Record<string, string | undefined> {
  const { query } = useLocation()
  return Object.fromEntries(filters.map(({ name }) => [name, query.get(name) ?? undefined]))
}

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
  return (
    <Group gap="xs" wrap="wrap">
      {active.map((filter) => (
        <FilterChip
          key={`${filter.name} ${set[filter.name] ?? ''}`}
          filter={filter}
          value={set[filter.name]}
          onChange={(value) => {
            setEditing(undefined)
            setQuery({ [filter.name]: value })
          }}
        />
      ))}
      {rest.length > 0 && (
        <Menu withinPortal>
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

function FilterChip({
  filter: { title, options, isTime = false },
  value,
  onChange,
}: {
  filter: Filter
  value: string | undefined
  onChange: (value: string | undefined) => void
}) {
  const shown = isTime ? onClock(value) : (value ?? '')
  const [text, setText] = useState(shown)
  const done = () => {
    const next = text.trim()
    if (next !== shown) onChange((isTime ? fromClock(next) : next) || undefined)
  }
  const remove = (
    <CloseButton size="xs" aria-label={`− ${title}`} onClick={() => onChange(undefined)} />
  )
  if (options !== undefined) {
    return (
      <Select
        size="xs"
        aria-label={title}
        placeholder={title}
        data={options.map((each) =>
          typeof each === 'string' ? { value: each, label: each } : each,
        )}
        value={value ?? null}
        searchable
        clearable
        onChange={(next) => onChange(next ?? undefined)}
      />
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        done()
      }}
    >
      <TextInput
        size="xs"
        aria-label={title}
        placeholder={title}
        value={text}
        rightSection={remove}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={done}
        {...(isTime && {
          type: 'datetime-local',
          step: 1,
          leftSectionWidth: 48,
          leftSection: title,
        })}
      />
    </form>
  )
}

/** As the field for moments wants it: by the clock on the wall, without a zone. */
function onClock(value: string | undefined): string {
  const at = new Date(value ?? '')
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

function fromClock(text: string): string {
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
