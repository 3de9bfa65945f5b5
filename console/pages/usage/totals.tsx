// The groups of the chart in figures, compared with the previous period, with links to their requests.
import { Table } from '@mantine/core'
import { ScrollBox } from '../../components/scroll-box.tsx'
import { withUnit } from '../../components/table/data-table.tsx'
import { Money, quiet } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import {
  decimalOf,
  drawn,
  type Group,
  isTagged,
  type Keys,
  type Measure,
  nameOf,
  type Period,
  sumsOf,
  topOf,
  type UsageRow,
} from '../../lib/resources/usage.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'
import { useName } from './use-name.ts'
import { useWord } from './use-word.ts'

/** Money as text, everything else as a number. */
export function useShown(measure: Measure): (value: bigint) => string {
  const format = useFormat()
  const { currency } = useSession()
  return (value) =>
    measure === 'amount' ? format.money(decimalOf(value), currency) : format.number(drawn(value))
}

function Sum({ value, measure }: { value: bigint; measure: Measure }) {
  const format = useFormat()
  const { currency } = useSession()
  if (measure !== 'amount') return <>{quiet(format.number(drawn(value)))}</>
  return <Money amount={decimalOf(value)} currency={currency} isBare />
}

export function Totals({
  rows,
  before,
  keys,
  measure,
  top,
  period,
}: {
  rows: readonly UsageRow[]
  before: readonly UsageRow[] | undefined
  keys: Keys
  measure: Measure
  top: number
  period: Period
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  // The heading has the currency.
  const title = measure === 'amount' ? withUnit(t(measure), currency) : t(measure)
  const shownName = useName(keys)
  const sums = topOf(sumsOf(rows, keys, measure), top, t('other'))
  const shown = new Set(sums.map(([name]) => name))
  const old = before && oldSums(before, keys, measure, shown, t('other'))
  const total = sums.reduce((sum, [, value]) => sum + value, 0n)
  const oldTotal = [...(old?.values() ?? [])].reduce((sum, value) => sum + value, 0n)
  const changeOf = (value: bigint, was: bigint) =>
    was === 0n ? '–' : format.percent(drawn(value) / drawn(was) - 1)
  const cells = (value: bigint, was: bigint) => (
    <>
      <Table.Td ta="right" data-label={title}>
        <div>
          <Sum value={value} measure={measure} />
        </div>
      </Table.Td>
      <Table.Td ta="right" data-label={t('share')}>
        <div>{total === 0n ? '–' : format.percent(Number((value * 10_000n) / total) / 10_000)}</div>
      </Table.Td>
      {old !== undefined && (
        <>
          <Table.Td ta="right" data-label={t('before')}>
            <div>
              <Sum value={was} measure={measure} />
            </div>
          </Table.Td>
          <Table.Td ta="right" data-label={t('change')}>
            <div>{quiet(changeOf(value, was))}</div>
          </Table.Td>
        </>
      )}
    </>
  )
  const isPrivate = [keys.group, keys.subgroup].some((key) => key !== undefined && isNamed(key))
  return (
    <ScrollBox label={t('totals')} minWidth={520}>
      <Table aria-label={t('totals')} className="cards-on-phone">
        <TotalsHead keys={keys} title={title} isCompared={old !== undefined} />
        <Table.Tbody>
          {sums.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Td className={isPrivate ? privateClass : undefined}>
                {shownName(name)}
              </Table.Td>
              {cells(value, old?.get(name) ?? 0n)}
              <Table.Td>
                <LogLink rows={rows} keys={keys} name={name} period={period} />
              </Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr fw={600}>
            <Table.Th>{t('total')}</Table.Th>
            {cells(total, oldTotal)}
            <Table.Td />
          </Table.Tr>
        </Table.Tbody>
      </Table>
    </ScrollBox>
  )
}

function TotalsHead({
  keys: { group, subgroup },
  title,
  isCompared,
}: {
  keys: Keys
  title: string
  isCompared: boolean
}) {
  const t = useMessages(messages)
  const word = useWord()
  const heading = subgroup === undefined ? '' : ` / ${word(subgroup)}`
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th>{`${word(group)}${heading}`}</Table.Th>
        <Table.Th ta="right">{title}</Table.Th>
        <Table.Th ta="right">{t('share')}</Table.Th>
        {isCompared && <Table.Th ta="right">{t('before')}</Table.Th>}
        {isCompared && <Table.Th ta="right">{t('change')}</Table.Th>}
        <Table.Th />
      </Table.Tr>
    </Table.Thead>
  )
}

/** Whether its values are names of callers. */
const isNamed = (group: Group): boolean =>
  group === 'account' || group === 'token' || isTagged(group)

/** Under the names that are shown; what is among the rest today was among the rest before. */
function oldSums(
  before: readonly UsageRow[],
  keys: Keys,
  measure: Measure,
  shown: ReadonlySet<string>,
  other: string,
): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const [name, value] of sumsOf(before, keys, measure)) {
    const under = shown.has(name) ? name : other
    sums.set(under, (sums.get(under) ?? 0n) + value)
  }
  return sums
}

/** Requests of a group, where the log knows it: by model, account and token. */
function LogLink({
  rows,
  keys,
  name,
  period,
}: {
  rows: readonly UsageRow[]
  keys: Keys
  name: string
  period: Period
}) {
  const t = useMessages(messages)
  const row = rows.find((each) => nameOf(each, keys) === name)
  if (row === undefined) return null
  const query = new URLSearchParams({ from: period.from, to: period.to })
  for (const key of [keys.group, keys.subgroup]) {
    if (key === 'model' && row.model) query.set('model', row.model)
    else if (key === 'account' && row.account) query.set('account', row.account)
    else if (key === 'token' && row.token_id) query.set('token', row.token_id)
    else if (key === 'end_user' && row.end_user) query.set('end_user', row.end_user)
    else if (key?.startsWith('tag:') && row.tag) query.set('tag', `${key.slice(4)}=${row.tag}`)
    else if (key !== undefined) return null
  }
  return <Link to={`/requests?${query}`}>{t('logs')}</Link>
}
