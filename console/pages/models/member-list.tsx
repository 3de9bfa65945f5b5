// The models behind a virtual one, first choice first.
import { ActionIcon, Group, NumberInput, Select, Stack, Text } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { useMessages } from '../../lib/messages.ts'
import type { Model } from '../../lib/resources/price.ts'
import { isPlain } from './catalog.ts'
import { messages } from './messages.ts'

export interface Member {
  model: string
  weight?: number | undefined
}

export function MemberList({
  kind,
  models,
  isWeighted,
  members,
  onChange,
}: {
  kind: string
  models: readonly Model[]
  isWeighted: boolean
  members: readonly Member[]
  onChange: (members: readonly Member[]) => void
}) {
  const t = useMessages(messages)
  const taken = new Set(members.map(({ model }) => model))
  const free = models
    .filter((model) => model.kind === kind && isPlain(model) && !taken.has(model.name))
    .map(({ name }) => name)
  const up = (at: number) => {
    const next = [...members]
    next.splice(at - 1, 2, members[at]!, members[at - 1]!)
    onChange(next)
  }
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        {t(isWeighted ? 'members_hint_weight' : 'members_hint_order')}
      </Text>
      {members.map((member, i) => (
        <MemberRow
          key={member.model}
          member={member}
          place={i + 1}
          isWeighted={isWeighted}
          onUp={i === 0 ? undefined : () => up(i)}
          onWeight={(weight) =>
            onChange(members.map((each) => (each === member ? { ...each, weight } : each)))
          }
          onRemove={() => onChange(members.filter((each) => each !== member))}
        />
      ))}
      <Select
        label={t('add_member')}
        placeholder={t('add_member')}
        required={members.length === 0}
        searchable
        data={free}
        value={null}
        onChange={(name) => {
          if (name !== null) onChange([...members, { model: name }])
        }}
      />
    </Stack>
  )
}

function MemberRow({
  member: { model, weight = 1 },
  place,
  isWeighted,
  onUp,
  onWeight,
  onRemove,
}: {
  member: Member
  place: number
  isWeighted: boolean
  onUp: (() => void) | undefined
  onWeight: (weight: number) => void
  onRemove: () => void
}) {
  const t = useMessages(messages)
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm" c="dimmed" w={20}>
        {place}.
      </Text>
      <Text size="sm" fw={600} style={{ flex: 1, overflowWrap: 'anywhere' }}>
        {model}
      </Text>
      {isWeighted && (
        <NumberInput
          aria-label={t('weight_of', { name: model })}
          size="xs"
          w={90}
          min={0}
          max={1_000_000}
          value={weight}
          onChange={(value) => onWeight(Number(value))}
        />
      )}
      {onUp !== undefined && (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('move_up', { name: model })}
          onClick={onUp}
        >
          ↑
        </ActionIcon>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('remove_member', { name: model })}
        onClick={onRemove}
      >
        <Icon name="close" size={16} />
      </ActionIcon>
    </Group>
  )
}
