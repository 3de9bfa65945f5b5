// The field of a filter while it is changed: it has the focus, and suggests what there is.
import { Autocomplete, Select, TextInput } from '@mantine/core'
import { type KeyboardEvent, useRef, useState } from 'react'
import { fromWallClock, useTimeZone, wallClock, zoneText } from '../../../lib/format/time-zone.ts'
import type { Filter } from './filters.ts'
import { useSuggestions } from './suggestions.ts'

interface FieldProps {
  filter: Filter
  value: string | undefined
  onChange: (value: string | undefined) => void
  /** Nothing was changed. */
  onLeave: () => void
}

export function FilterField(props: FieldProps) {
  if (props.filter.options !== undefined) return <ChoiceField {...props} />
  return props.filter.isTime ? <TimeField {...props} /> : <TextField {...props} />
}

const maxSuggestions = 20

function ChoiceField({ filter: { title, options = [] }, value, onChange, onLeave }: FieldProps) {
  return (
    <Select
      size="xs"
      aria-label={title}
      placeholder={title}
      data={options.map((each) => (typeof each === 'string' ? { value: each, label: each } : each))}
      value={value ?? null}
      searchable
      clearable
      autoFocus
      defaultDropdownOpened
      onChange={(next) => onChange(next ?? undefined)}
      onBlur={onLeave}
    />
  )
}

function TextField({ filter: { title, suggest }, value, onChange, onLeave }: FieldProps) {
  const [text, setText] = useState(value ?? '')
  const known = useSuggestions(suggest)
  // People know a token by its name, the gateway by its ID.
  const valueFor = (shown: string) => known.find(({ label }) => label === shown)?.value ?? shown
  // A field that goes away may still lose its focus.
  const isDone = useRef(false)
  const done = (shown: string) => {
    if (isDone.current) return
    isDone.current = true
    const next = valueFor(shown.trim())
    if (next === (value ?? '')) onLeave()
    else onChange(next === '' ? undefined : next)
  }
  return (
    <Autocomplete
      size="xs"
      aria-label={title}
      placeholder={title}
      data={[...new Set(known.map(({ label }) => label))]}
      limit={maxSuggestions}
      value={text}
      autoFocus
      onChange={setText}
      onOptionSubmit={done}
      onBlur={() => done(text)}
      onKeyDown={keys(() => done(text), onLeave)}
    />
  )
}

function TimeField({ filter: { title }, value, onChange, onLeave }: FieldProps) {
  const [zone] = useTimeZone()
  const shown = wallClock(value, zone)
  const [text, setText] = useState(shown)
  const done = () => (text === shown ? onLeave() : onChange(fromWallClock(text, zone) || undefined))
  return (
    <TextInput
      size="xs"
      type="datetime-local"
      step={1}
      aria-label={title}
      title={zoneText(zone)}
      leftSection={title}
      leftSectionWidth={48}
      value={text}
      autoFocus
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={keys(done, onLeave)}
    />
  )
}

/** Enter applies, Esc leaves it as it was. */
const keys = (onEnter: () => void, onEscape: () => void) => (event: KeyboardEvent) => {
  if (event.key === 'Escape') onEscape()
  else if (event.key === 'Enter' && !event.defaultPrevented) onEnter()
  else return
  event.stopPropagation()
}
