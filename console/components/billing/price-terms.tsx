// A price as people read it, and how it differs from another.
import { Badge, Stack, Text } from '@mantine/core'
import { type Format, useFormat } from '../../lib/format.ts'
import type { Translate } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { changesOf, type Price, type Rates, termsOf } from '../../lib/resources/price.ts'
import { useSession } from '../../lib/session.ts'
import { rateNames } from '../price-editor/draft.ts'
import { None } from '../values.tsx'
import { billingMessages } from './messages.ts'

type Shown = Omit<Price, 'id' | 'account' | 'current' | 'state' | 'source' | 'created_by'>

type BillingText = Translate<keyof typeof billingMessages>

const callAmount = ({ per_search, per_minute }: Shown) => per_search ?? per_minute

/** Every line has its unit and currency, in front where there are several amounts: lists cut the end. */
function useLines(): (price: Shown, currency?: string) => string[] {
  const t = useMessages(billingMessages)
  const format = useFormat()
  const { currency: own } = useSession()
  return (price, currency = own) => linesOf(price, currency, t, format)
}

function linesOf(price: Shown, currency: string, t: BillingText, format: Format): string[] {
  const rates = (each: Rates) =>
    rateNames
      .filter((name) => each[name] !== undefined)
      .map((name) => `${t(name)} ${format.exact(each[name])}`)
      .join(' · ')
  const listed = (line: string, bound = '') =>
    `${currency} / ${t('token')}${bound === '' ? '' : `, ${bound}`}: ${line}`
  const withFactor = (name: string, factor: string) => t('factor_of', { name, factor })
  const withRates = (each: Rates, name: string) => listed(rates(each), name)
  const single = (amount: string, unit: Shown['unit']) => `${amount} ${currency} / ${t(unit)}`
  const tiered = (each: Readonly<Record<string, string | undefined>>) =>
    Object.entries(each).map(([tier, amount]) => `${tier}: ${format.exact(amount)}`)
  const amounts = (price: Shown) => {
    const { unit, tiers, per_million, per_image, per_second } = price
    if (tiers !== undefined) {
      return tiers.map(({ up_to, per_million: tier }) => {
        const bound = up_to === undefined ? t('above') : t('up_to', { n: format.number(up_to) })
        return listed(rates(tier), bound)
      })
    }
    if (typeof per_million === 'object') return [listed(rates(per_million))]
    const amount = typeof per_million === 'string' ? per_million : (callAmount(price) ?? per_image)
    if (typeof amount === 'string') return [single(format.exact(amount), unit)]
    return tiered(amount ?? per_second ?? {}).map((line) => single(line, unit))
  }
  if (price.unit === 'default' || price.unit === 'free') return [t(price.unit)]
  return [
    ...amounts(price),
    ...Object.entries(price.per_call ?? {}).map(([tool, amount]) =>
      t('tool_call', { tool, amount: `${format.exact(amount)} ${currency}` }),
    ),
    ...factorLines(price, withFactor, withRates),
  ]
}

/** Service tiers, places and hours, each with its factor or its rates. */
function factorLines(
  { service_tiers = {}, geo = {}, hours = [] }: Shown,
  withFactor: (name: string, factor: string) => string,
  withRates: (rates: Rates, name: string) => string,
): string[] {
  return [
    ...Object.entries(service_tiers).map(([name, { factor = '', per_million }]) =>
      per_million === undefined ? withFactor(name, factor) : withRates(per_million, name),
    ),
    ...Object.entries(geo).map(([name, { factor }]) => withFactor(name, factor)),
    ...hours.map(({ days = [], from, to, zone = 'UTC', factor }) => {
      const name = [days.join(' '), `${from}–${to}`, zone].join(' ').trim()
      return withFactor(name, factor)
    }),
  ]
}

export function Terms({ price }: { price: Shown }) {
  const lines = useLines()(price)
  return (
    <Stack gap={0}>
      {lines.map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
    </Stack>
  )
}

/** All of it in one line. */
export function usePriceText(): (price: Shown, currency?: string) => string {
  const lines = useLines()
  return (price, currency) => lines(price, currency).join(' | ')
}

/** Up or down, by how much: one figure where all amounts moved alike, else the two ends. */
export function Change({ before, after }: { before: Shown; after: Shown }) {
  const format = useFormat()
  const shares = changesOf(termsOf(before), termsOf(after)).map(({ share }) => share)
  if (shares.length === 0 || before.unit !== after.unit) return null
  const signed = (share: number) => `${share > 0 ? '+' : ''}${format.percent(share)}`
  const [min, max] = [Math.min(...shares), Math.max(...shares)]
  const text = max - min < 0.0005 ? signed(max) : `${signed(min)} … ${signed(max)}`
  return (
    <Badge variant="light" radius="sm" color={min >= 0 ? 'orange' : max <= 0 ? 'teal' : 'gray'}>
      {text}
    </Badge>
  )
}

const sourceColors: Readonly<Record<string, string>> = {
  builtin: 'gray',
  file: 'blue',
  api: 'grape',
}

/** Where a price comes from, in the words of the page. */
export function SourceBadge({ source }: { source: string | undefined }) {
  const t = useMessages(billingMessages)
  if (source === undefined) return <None />
  return (
    <Badge variant="light" radius="sm" color={sourceColors[source] ?? 'gray'}>
      {t(`source_${source}` as 'source_api')}
    </Badge>
  )
}
