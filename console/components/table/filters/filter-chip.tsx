// A filter that is set, with its name: `Status: 404`. A click changes it, the cross removes it.
import { Button, CloseButton, Group } from '@mantine/core'
import { useFormat } from '../../../lib/format.ts'
import { useMessages } from '../../../lib/messages.ts'
import { privateClass } from '../../../lib/privacy.ts'
import type { Filter } from './filters.ts'
import { useSuggestions } from './suggestions.ts'

const privateNames = ['account', 'token', 'end_user', 'tag', 'actor']

export function FilterChip({
  filter,
  value,
  onChange,
  onEdit,
}: {
  filter: Filter
  value: string | undefined
  onChange: (value: string | undefined) => void
  onEdit: () => void
}) {
  const t = useMessages()
  const shown = useShown(filter, value ?? '')
  const { title, name } = filter
  return (
    <Group gap={0} wrap="nowrap" className="filter-chip">
      <Button
        variant="subtle"
        size="compact-xs"
        color="gray"
        onClick={onEdit}
        title={t('change_filter', { name: title })}
      >
        {title}:&nbsp;
        <strong className={privateNames.includes(name) ? privateClass : undefined}>{shown}</strong>
      </Button>
      <CloseButton
        size="xs"
        aria-label={t('remove_filter', { name: title })}
        onClick={() => onChange(undefined)}
      />
    </Group>
  )
}

/** A value as people know it: the label of a choice, a moment in the reader's zone. */
function useShown({ options, suggest, isTime = false }: Filter, value: string): string {
  const format = useFormat()
  const known = useSuggestions(suggest === 'tokens' ? suggest : undefined)
  if (isTime) return Number.isNaN(Date.parse(value)) ? value : format.time(value)
  const all = [...(options ?? []), ...known]
  const found = all.find((each) => typeof each === 'object' && each.value === value)
  return typeof found === 'object' ? found.label : value
}
