// The amounts of a price as fields, one for each that it has. What it is made of (its unit, its tiers)
// is changed as JSON.
import { Group, Stack, Text, TextInput } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { type Amount, amountsOf, type Terms, withAmount } from '../../lib/resources/price.ts'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

export function TermsFields({
  terms,
  onChange,
}: {
  terms: Terms
  onChange: (terms: Terms) => void
}) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const labelOf = useLabels(terms)
  const unit = String(terms['unit'])
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {currency} / {t(unit as 'token')}
      </Text>
      <Group align="flex-end" gap="sm">
        {amountsOf(terms).map((amount) => (
          <TextInput
            key={amount.path.join('.')}
            label={labelOf(amount)}
            value={amount.value}
            inputMode="decimal"
            w={170}
            onChange={(event) =>
              onChange(withAmount(terms, amount.path, event.currentTarget.value))
            }
          />
        ))}
      </Group>
    </Stack>
  )
}

/** Input, output, a resolution; with its tier where there are several. */
function useLabels(terms: Terms): (amount: Amount) => string {
  const t = useMessages(messages)
  const format = useFormat()
  const tiers = Array.isArray(terms['tiers']) ? (terms['tiers'] as { up_to?: number }[]) : []
  return ({ path }) => {
    const last = String(path.at(-1))
    const known = ['input', 'output', 'cache_read', 'cache_write', 'per_image'] as const
    const name = known.find((each) => each === last)
    const word = name !== undefined ? t(name) : last === 'per_million' ? t('price') : last
    if (path[0] !== 'tiers') return word
    const bound = tiers[Number(path[1])]?.up_to
    const tier = bound === undefined ? t('above') : `≤ ${format.number(bound)}`
    return `${word} (${tier})`
  }
}
