// Prices in columns: one for each kind of amount with its unit in the heading; tiers, hours and the rest are
// folded into a few words, and whole on hover.
import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFormat } from '../../lib/format.ts'
import { defineMessages } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { type CellName, cellNames, cellsOf } from '../../lib/resources/price-cells.ts'
import { useSession } from '../../lib/session.ts'
import { type Column, column, numberColumn, withUnit } from '../table/data-table.tsx'
import { Decimal, None } from '../values.tsx'
import { billingMessages } from './messages.ts'
import { usePriceText } from './price-terms.tsx'

const messages = defineMessages({
  ...billingMessages,
  per_million: ['{currency}/M', '{currency}/百万'],
  image: ['Image', '图片'],
  per_image: ['{currency} each', '{currency}/张'],
  second: ['Video', '视频'],
  per_second: ['{currency}/s', '{currency}/秒'],
  more: ['Other terms', '其他条款'],
  // Short enough for a column.
  audio_second: ['minute', '分钟'],
  character: ['M characters', '百万字符'],
  free: ['Free', '免费'],
  tiers: ['Tiers: {n}', '档位：{n}'],
  sizes: ['Sizes: {n}', '尺寸：{n}'],
  resolutions: ['Resolutions: {n}', '分辨率：{n}'],
  other_rates: ['Other rates: {n}', '其他费率：{n}'],
  tools: ['Tools: {n}', '工具：{n}'],
  service_tiers: ['Service tiers: {n}', '服务等级：{n}'],
  places: ['Places: {n}', '地区：{n}'],
  hours: ['Hours: {n}', '时段：{n}'],
})

type Shown = Parameters<typeof cellsOf>[0]

const unitOf = (name: CellName) =>
  name === 'image' ? 'per_image' : name === 'second' ? 'per_second' : 'per_million'

/** For rows that have a price; `priceOf` says which. `without`: what stands where there is none. */
export function usePriceColumns<T>(
  priceOf: (row: T) => Shown | undefined,
  without?: (row: T) => ReactNode,
  /** Where rows have currencies of their own; the heading names that of the gateway. */
  currencyOf?: (row: T) => string,
): Column<T>[] {
  const t = useMessages(messages)
  const { currency } = useSession()
  const amountOf = (row: T, name: CellName): string | undefined => {
    const price = priceOf(row)
    return price === undefined ? undefined : cellsOf(price).amounts[name]
  }
  const amounts = cellNames.map((name) =>
    numberColumn<T>(
      withUnit(t(name), t(unitOf(name), { currency })),
      '88px',
      (row) => <Amount amount={amountOf(row, name)} currency={currencyOf?.(row)} />,
      { id: name, sort: (row) => sortable(amountOf(row, name)) },
    ),
  )
  return [
    ...amounts,
    column<T>(
      t('more'),
      '150px',
      (row) => <Folded price={priceOf(row)} without={without?.(row)} />,
      { id: 'more' },
    ),
  ]
}

const pricePlaces = 3

function Amount({
  amount,
  currency,
}: {
  amount: string | undefined
  currency: string | undefined
}) {
  const format = useFormat()
  const { currency: own } = useSession()
  if (amount === undefined) return <None />
  const unit = currency === own ? undefined : currency
  return <Decimal text={format.exact(amount)} places={pricePlaces} unit={unit} />
}

/** What has no amount comes last. */
const sortable = (amount: string | undefined): number | undefined =>
  amount === undefined ? undefined : Number(amount)

function Folded({ price, without }: { price: Shown | undefined; without: ReactNode }) {
  const t = useMessages(messages)
  const text = usePriceText()
  const format = useFormat()
  if (price === undefined) return <>{without ?? <Text c="red">{t('missing')}</Text>}</>
  const { single, folded } = cellsOf(price)
  const unit = single && t(single.unit)
  const terms = [
    single?.amount === undefined ? unit : `${format.exact(single.amount)} / ${unit}`,
    ...folded.map(([name, n]) => t(name, { n })),
  ].filter((term) => term !== undefined)
  return <span title={text(price)}>{terms.join(' · ')}</span>
}
