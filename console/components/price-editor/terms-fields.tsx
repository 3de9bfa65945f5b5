// The amounts of a price as fields: tiers, tools, sizes and resolutions can be added and removed.
import { Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMessages } from '../../lib/messages.ts'
import type { Terms } from '../../lib/resources/price.ts'
import { useSession } from '../../lib/session.ts'
import { PriceHoursFields } from '../price-hours/index.tsx'
import type { HoursWindow } from '../price-hours/week.ts'
import { amountFields, emptyTerms, imageSizes, withHours, withPairs } from './draft.ts'
import { editorMessages } from './messages.ts'
import { NamedAmounts } from './named-amounts.tsx'
import { TokenFields } from './token-fields.tsx'

interface Props {
  terms: Terms
  onChange: (terms: Terms) => void
}

/** `units`: those that fit the model. */
export function TermsFields({
  terms,
  units,
  currency,
  onChange,
}: Props & {
  units: readonly string[]
  /** Absent: the ledger's. */
  currency?: string
}) {
  const t = useMessages(editorMessages)
  const session = useSession()
  const unit = String(terms['unit'])
  return (
    <Stack gap="sm">
      {units.length > 1 ? (
        <Select
          label={t('unit')}
          w={260}
          allowDeselect={false}
          data={units.map((value) => ({
            value,
            label: `${currency ?? session.currency} / ${t(value as 'token')}`,
          }))}
          value={unit}
          onChange={(value) => onChange(emptyTerms(value ?? unit))}
        />
      ) : (
        <Text size="sm" c="dimmed">
          {currency ?? session.currency} / {t(unit as 'token')}
        </Text>
      )}
      <UnitFields unit={unit} terms={terms} onChange={onChange} />
      {unit !== 'free' && (
        <PriceHoursFields
          hours={(terms['hours'] ?? []) as readonly HoursWindow[]}
          onChange={(hours) => onChange(withHours(terms, hours))}
        />
      )}
    </Stack>
  )
}

function UnitFields({ unit, terms, onChange }: Props & { unit: string }) {
  const t = useMessages(editorMessages)
  if (unit === 'token') return <TokenFields terms={terms} onChange={onChange} />
  if (unit === 'image') return <ImageFields terms={terms} onChange={onChange} />
  if (unit === 'video_second') {
    return (
      <NamedAmounts
        nameLabel={t('resolution')}
        amountLabel={t('amount')}
        add={t('add_resolution')}
        suggestion="1080p"
        isRequired
        pairs={Object.entries((terms['per_second'] ?? {}) as Record<string, string>)}
        onChange={(pairs) => onChange(withPairs(terms, 'per_second', pairs))}
      />
    )
  }
  const field = amountFields[unit]
  if (field === undefined) return null
  return (
    <AmountField
      label={t('amount')}
      value={String(terms[field] ?? '')}
      onChange={(amount) => onChange({ ...terms, [field]: amount })}
    />
  )
}

function ImageFields({ terms, onChange }: Props) {
  const t = useMessages(editorMessages)
  const { per_image } = terms
  const bySize = typeof per_image === 'object' ? (per_image as Record<string, string>) : undefined
  const change = (how: string) =>
    onChange({
      unit: 'image',
      per_image: how === 'size' ? { '1k': String(per_image ?? '') } : (bySize?.['1k'] ?? ''),
    })
  return (
    <>
      <SegmentedControl
        aria-label={t('per_image')}
        style={{ alignSelf: 'flex-start' }}
        data={[
          { value: 'one', label: t('one_price') },
          { value: 'size', label: t('by_size') },
        ]}
        value={bySize === undefined ? 'one' : 'size'}
        onChange={change}
      />
      {bySize === undefined ? (
        <AmountField
          label={t('per_image')}
          value={String(per_image ?? '')}
          onChange={(value) => onChange({ ...terms, per_image: value })}
        />
      ) : (
        <SizeFields terms={terms} sizes={bySize} onChange={onChange} />
      )}
    </>
  )
}

function SizeFields({ terms, sizes, onChange }: Props & { sizes: Record<string, string> }) {
  const t = useMessages(editorMessages)
  const set = (size: string, value: string) => {
    const { [size]: _, ...others } = sizes
    const next: Record<string, string> = value === '' ? others : { ...others, [size]: value }
    const known = imageSizes.filter((each) => next[each] !== undefined)
    onChange({ ...terms, per_image: Object.fromEntries(known.map((each) => [each, next[each]])) })
  }
  return (
    <Group align="flex-end" gap="sm">
      {imageSizes.map((size) => (
        <TextInput
          key={size}
          label={size}
          inputMode="decimal"
          w={110}
          value={sizes[size] ?? ''}
          onChange={(event) => set(size, event.currentTarget.value.trim())}
        />
      ))}
      <Select
        label={t('default_size')}
        data={[...imageSizes]}
        allowDeselect={false}
        value={String(terms['default_size'] ?? '1k')}
        onChange={(value) => onChange({ ...terms, default_size: value ?? '1k' })}
      />
    </Group>
  )
}

const AmountField = ({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (value: string) => void
}) => (
  <TextInput
    label={label}
    required
    withAsterisk={false}
    inputMode="decimal"
    placeholder="0.00"
    w={170}
    value={value}
    onChange={(event) => onChange(event.currentTarget.value.trim())}
  />
)
