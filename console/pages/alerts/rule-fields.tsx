// The rules of error rates in the form of a subscription.
import { ActionIcon, Button, Group, NumberInput, Select, Stack, Text } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import type { Page } from '../../lib/api.ts'
import { useMessages } from '../../lib/messages.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'
import { newRule, type RuleDraft } from './rules.ts'

const maxRules = 50

export function RuleFields({
  rules,
  onChange,
}: {
  rules: readonly RuleDraft[]
  onChange: (rules: readonly RuleDraft[]) => void
}) {
  const t = useMessages(messages)
  const change = (to: RuleDraft) => onChange(rules.map((each) => (each.id === to.id ? to : each)))
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        {t('rules')}
      </Text>
      <Text size="xs" c="dimmed">
        {t('rules_hint')}
      </Text>
      {rules.map((rule, i) => (
        <RuleRow
          key={rule.id}
          rule={rule}
          number={i + 1}
          onChange={change}
          onRemove={() => onChange(rules.filter(({ id }) => id !== rule.id))}
        />
      ))}
      {rules.length < maxRules && (
        <Group>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onChange([...rules, newRule()])}
          >
            {t('add_rule')}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function RuleRow({
  rule,
  number,
  onChange,
  onRemove,
}: {
  rule: RuleDraft
  number: number
  onChange: (to: RuleDraft) => void
  onRemove: () => void
}) {
  const t = useMessages(messages)
  const names = useNames(rule.of)
  const figure = (name: 'abovePercent' | 'overMinutes' | 'min', min: number, max: number) => ({
    value: rule[name],
    min,
    max,
    w: 110,
    onChange: (value: number | string) => onChange({ ...rule, [name]: Number(value) }),
  })
  return (
    <Group gap="xs" align="flex-end">
      <Select
        label={t('rule_of')}
        w={120}
        allowDeselect={false}
        data={(['model', 'channel'] as const).map((value) => ({ value, label: t(value) }))}
        value={rule.of}
        onChange={(of) => onChange({ ...rule, of: (of ?? 'model') as RuleDraft['of'], name: '' })}
      />
      <Select
        label={t('rule_name')}
        w={200}
        required
        searchable
        data={names}
        value={rule.name === '' ? null : rule.name}
        onChange={(name) => onChange({ ...rule, name: name ?? '' })}
      />
      <NumberInput label={t('above')} {...figure('abovePercent', 0, 100)} />
      <NumberInput label={t('over')} {...figure('overMinutes', 1, 1_440)} />
      <NumberInput label={t('min')} {...figure('min', 1, 1_000_000)} />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t('remove_rule', { n: number })}
        onClick={onRemove}
      >
        <Icon name="close" size={16} />
      </ActionIcon>
    </Group>
  )
}

function useNames(of: RuleDraft['of']): string[] {
  const { data } = useResource<Page<{ name: string }>>(of === 'model' ? '/models' : '/channels', {
    query: { limit: 500 },
  })
  return data?.items.map(({ name }) => name) ?? []
}
