// What a token or an account requires of the channels that its calls may reach, and which of them qualify.
import { NumberInput, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { Page } from '../../lib/api.ts'
import { defineMessages } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Channel } from '../../lib/resources/channel.ts'
import { type DataRequirement, qualifies, requirementFrom } from '../../lib/resources/data-terms.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'

const messages = defineMessages({
  require_hint: [
    'Only channels that promise this are asked. A call that none of them can serve is refused with 403.',
    '只调用作出相应承诺的渠道；没有渠道符合时返回 403。',
  ],
  training: ['Training', '训练'],
  any_training: ['not required', '不要求'],
  no_training: ['must not be trained with', '不得用于训练'],
  retention: ['Kept for days at most', '最长保留天数'],
  region: ['Processed in region', '处理地域'],
  qualifying: ['Channels that qualify', '符合的渠道'],
  none: ['None: every call would be refused.', '没有渠道符合，所有调用都会被拒绝。'],
})

export function RequireFields({
  value,
  onChange,
}: {
  value: DataRequirement
  onChange: (value: DataRequirement) => void
}) {
  const t = useMessages(messages)
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        {t('require')}
      </Text>
      <Text size="xs" c="dimmed">
        {t('require_hint')}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 3 }}>
        <Select
          label={t('training')}
          placeholder={t('any_training')}
          clearable
          data={[{ value: 'no', label: t('no_training') }]}
          value={value.training ?? null}
          onChange={(next) => onChange({ ...value, training: next === 'no' ? 'no' : undefined })}
        />
        <NumberInput
          label={t('retention')}
          min={0}
          allowDecimal={false}
          value={value.retention_days ?? ''}
          onChange={(next) =>
            onChange({ ...value, retention_days: next === '' ? undefined : Number(next) })
          }
        />
        <TextInput
          label={t('region')}
          placeholder="eu"
          value={value.region ?? ''}
          onChange={(event) => onChange({ ...value, region: event.currentTarget.value.trim() })}
        />
      </SimpleGrid>
      <Qualifying required={[requirementFrom(value)]} />
    </Stack>
  )
}

/** For those who may see channels, and where anything is required. */
export function Qualifying({ required }: { required: readonly (DataRequirement | null)[] }) {
  const t = useMessages(messages)
  const mayList = hasRole(useSession(), ['operator'])
  const isAny = required.some((each) => each !== null)
  const { data } = useResource<Page<Channel>>('/channels', {
    query: { limit: 500 },
    enabled: mayList && isAny,
  })
  if (!mayList || !isAny || data === undefined) return null
  const names = data.items
    .filter((channel) => required.every((each) => qualifies(channel.data, each)))
    .map(({ name }) => name)
  return (
    <Text size="sm" {...(names.length === 0 && { c: 'orange' })}>
      {t('qualifying')}: {names.length === 0 ? t('none') : names.join(', ')}
    </Text>
  )
}
