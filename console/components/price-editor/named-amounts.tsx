// Amounts by a name that the reader types: tools, resolutions.
import { ActionIcon, Button, Group, Stack, TextInput } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import { Icon } from '../icon.tsx'
import { editorMessages } from './messages.ts'

type Pair = readonly [name: string, amount: string]

export function NamedAmounts({
  nameLabel,
  amountLabel,
  add,
  suggestion,
  isRequired = false,
  pairs,
  onChange,
}: {
  nameLabel: string
  amountLabel: string
  /** What the button says. */
  add: string
  /** The name that a new row begins with. */
  suggestion: string
  /** The last row stays. */
  isRequired?: boolean
  pairs: readonly Pair[]
  onChange: (pairs: readonly Pair[]) => void
}) {
  const t = useMessages(editorMessages)
  const set = (at: number, pair: Pair) => onChange(pairs.map((each, i) => (i === at ? pair : each)))
  const isTaken = pairs.some(([name]) => name === suggestion)
  return (
    <Stack gap="xs">
      {pairs.map(([name, amount], i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name is what is being typed
        <Group key={i} align="flex-end" gap="sm">
          <TextInput
            label={nameLabel}
            required
            withAsterisk={false}
            w={170}
            value={name}
            onChange={(event) => set(i, [event.currentTarget.value.trim(), amount])}
          />
          <TextInput
            label={name === '' ? amountLabel : `${amountLabel} (${name})`}
            required
            withAsterisk={false}
            inputMode="decimal"
            placeholder="0.00"
            w={200}
            value={amount}
            onChange={(event) => set(i, [name, event.currentTarget.value.trim()])}
          />
          {(!isRequired || pairs.length > 1) && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={t('remove_row', { name })}
              onClick={() => onChange(pairs.filter((_, at) => at !== i))}
            >
              <Icon name="close" size={16} />
            </ActionIcon>
          )}
        </Group>
      ))}
      <Button
        variant="default"
        size="xs"
        style={{ alignSelf: 'flex-start' }}
        onClick={() => onChange([...pairs, [isTaken ? '' : suggestion, '']])}
      >
        {add}
      </Button>
    </Stack>
  )
}
