// Prices by tokens: one row of rates, or one for each tier of input, and prices per call of a tool.
import { ActionIcon, Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import type { Terms } from '../../lib/resources/price.ts'
import { Icon } from '../icon.tsx'
import {
  type DraftTier,
  rateNames,
  tiersOf,
  withOneMore,
  withPairs,
  withRate,
  withTiers,
} from './draft.ts'
import { editorMessages } from './messages.ts'
import { NamedAmounts } from './named-amounts.tsx'

export function TokenFields({
  terms,
  onChange,
}: {
  terms: Terms
  onChange: (terms: Terms) => void
}) {
  const t = useMessages(editorMessages)
  const tiers = tiersOf(terms)
  const setTiers = (next: readonly DraftTier[]) => onChange(withTiers(terms, next))
  return (
    <Stack gap="sm">
      {tiers.map((tier, i) => (
        <TierRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a tier is its place
          key={i}
          tiers={tiers}
          at={i}
          onChange={(next) => setTiers(tiers.map((each) => (each === tier ? next : each)))}
          onRemove={() => setTiers(tiers.filter((each) => each !== tier))}
        />
      ))}
      <Button
        variant="default"
        size="xs"
        style={{ alignSelf: 'flex-start' }}
        onClick={() => setTiers(withOneMore(tiers))}
      >
        {t('add_tier')}
      </Button>
      <div>
        <Text size="sm" fw={500}>
          {t('tools')}
        </Text>
        <Text size="xs" c="dimmed" mb={6}>
          {t('tools_hint')}
        </Text>
        <NamedAmounts
          nameLabel={t('tool')}
          amountLabel={t('per_call')}
          add={t('add_tool')}
          suggestion="web_search"
          pairs={Object.entries((terms['per_call'] ?? {}) as Record<string, string>)}
          onChange={(pairs) => onChange(withPairs(terms, 'per_call', pairs))}
        />
      </div>
    </Stack>
  )
}

function TierRow({
  tiers,
  at,
  onChange,
  onRemove,
}: {
  tiers: readonly DraftTier[]
  at: number
  onChange: (tier: DraftTier) => void
  onRemove: () => void
}) {
  const t = useMessages(editorMessages)
  const format = useFormat()
  const tier = tiers[at]!
  const isLast = at === tiers.length - 1
  const bound = tier.up_to === undefined ? t('above') : `≤ ${format.number(tier.up_to)}`
  const labelOf = (name: (typeof rateNames)[number]) =>
    tiers.length === 1 ? t(name) : `${t(name)} (${bound})`
  return (
    <Group align="flex-end" gap="sm">
      {tiers.length > 1 && (
        <NumberInput
          label={t('bound_of', { n: at + 1 })}
          required={!isLast}
          withAsterisk={false}
          {...(isLast && { placeholder: t('no_bound') })}
          min={1}
          allowDecimal={false}
          thousandSeparator=","
          hideControls
          w={190}
          value={tier.up_to ?? ''}
          onChange={(value) => {
            const { up_to: _, ...rest } = tier
            onChange(typeof value === 'number' ? { up_to: value, ...rest } : rest)
          }}
        />
      )}
      {rateNames.map((name) => (
        <TextInput
          key={name}
          label={labelOf(name)}
          required={name === 'input' || name === 'output'}
          withAsterisk={false}
          {...((name === 'cache_read' || name === 'cache_write') && {
            placeholder: tier.per_million['input'] ?? '',
          })}
          inputMode="decimal"
          w={tiers.length === 1 ? 130 : 160}
          value={tier.per_million[name] ?? ''}
          onChange={(event) =>
            onChange({
              ...tier,
              per_million: withRate(tier.per_million, name, event.currentTarget.value.trim()),
            })
          }
        />
      ))}
      {tiers.length > 1 && (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={t('remove_tier', { n: at + 1 })}
          onClick={onRemove}
        >
          <Icon name="close" size={16} />
        </ActionIcon>
      )}
    </Group>
  )
}
