// What is left of charges after refunds and upstreams: by account, model, channel or day, with what is not known.
import { Alert, Button, Card, Center, Group, Select, SimpleGrid, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { AccountName, useDisplayNames } from '../../components/billing/account-name.tsx'
import { Chart } from '../../components/charts/chart.tsx'
import { restColor } from '../../components/charts/series.ts'
import { AccountSelect } from '../../components/fields/account-select.tsx'
import { Icon } from '../../components/icon.tsx'
import { ErrorAlert, Page } from '../../components/page.tsx'
import {
  type Column,
  column,
  DataTable,
  numberColumn,
  withUnit,
} from '../../components/table/data-table.tsx'
import { Money, Name, State } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { lastMonths } from '../../lib/resources/bill.ts'
import {
  isMarginKey,
  isNegative,
  type MarginKey,
  marginKeys,
  refundedIn,
  shareOf,
} from '../../lib/resources/margin.ts'
import { saveCsv } from '../../lib/resources/save-csv.ts'
import {
  isMonth,
  monthPeriod,
  periodOf,
  timesOf,
  type UsageRow,
  useUsage,
} from '../../lib/resources/usage.ts'
import { Link, useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

const ranges = [7, 30, 90, 365] as const
const monthsShown = 24

export default function Margins() {
  const t = useMessages(messages)
  const [asked, setGroup] = useQueryValue('group')
  const group: MarginKey = isMarginKey(asked) ? asked : 'account'
  const [range = '30', setRange] = useQueryValue('days')
  const [account, setAccount] = useQueryValue('account')
  const period = isMonth(range) ? monthPeriod(range) : periodOf(Number(range) || 30)
  const usage = useUsage(period, group, true, account)
  const days = useUsage(period, 'day', true, account)
  const rows = usage.data?.items ?? []
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <Button
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          disabled={rows.length === 0}
          onClick={() => saveCsv(rows, `margins-by-${group}.csv`)}
        >
          {t('download')}
        </Button>
      }
    >
      <Group align="flex-end">
        <Select
          label={t('group')}
          w={150}
          allowDeselect={false}
          data={marginKeys.map((value) => ({ value, label: t(value) }))}
          value={group}
          onChange={(value) => setGroup(value === 'account' ? undefined : (value ?? undefined))}
        />
        <RangeSelect value={range} onChange={setRange} />
        <AccountSelect
          placeholder={t('all_accounts')}
          value={account}
          onChange={(name) => setAccount(name)}
        />
      </Group>
      <ErrorAlert error={usage.error ?? days.error} />
      {usage.data !== undefined && <Summary total={usage.data.total} />}
      {days.data !== undefined && days.data.items.length > 0 && (
        <MarginChart times={timesOf(period, 'day')} rows={days.data.items} />
      )}
      <MarginTable group={group} rows={rows} isLoading={usage.isLoading} />
    </Page>
  )
}

function RangeSelect({
  value,
  onChange,
}: {
  value: string
  onChange: (value: string | undefined) => void
}) {
  const t = useMessages(messages)
  return (
    <Select
      label={t('range')}
      w={160}
      allowDeselect={false}
      data={[
        {
          group: t('rolling'),
          items: ranges.map((each) => ({ value: String(each), label: t(`days_${each}`) })),
        },
        { group: t('calendar'), items: lastMonths(monthsShown) },
      ]}
      value={value}
      onChange={(next) => onChange(next === '30' ? undefined : (next ?? undefined))}
    />
  )
}

function Summary({ total }: { total: UsageRow }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const unknown = total.cost_unknown ?? 0
  const money = (amount: string | undefined) => (
    <Money amount={amount ?? null} currency={currency} />
  )
  return (
    <Card withBorder component="section" aria-label={t('summary')}>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
        <Figure title={t('charged')}>{money(total.amount)}</Figure>
        <Figure title={t('refunded')}>{money(refundedIn(total))}</Figure>
        <Figure title={t('cost')}>{money(total.cost)}</Figure>
        <Figure title={t('margin')}>
          <MarginAmount row={total} isWhole />
        </Figure>
        <Figure title={t('share')}>{shown(shareOf(total), format.percent)}</Figure>
      </SimpleGrid>
      {unknown > 0 && (
        <Alert color="yellow" mt="md" role="status">
          {t('unknown_text', { n: format.number(unknown), all: format.number(total.charges) })}{' '}
          <Link to="/costs">{t('to_costs')}</Link>
        </Alert>
      )}
    </Card>
  )
}

const shown = (share: number | undefined, format: (value: number) => string): string =>
  share === undefined ? '–' : format(share)

const Figure = ({ title, children }: { title: string; children: ReactNode }) => (
  <div>
    <Text size="xs" c="dimmed">
      {title}
    </Text>
    <Text size="sm" fw={600} component="div">
      {children}
    </Text>
  </div>
)

/** Below zero it has a shape and a word, not a color alone. */
function MarginAmount({ row, isWhole = false }: { row: UsageRow; isWhole?: boolean }) {
  const t = useMessages(messages)
  const { currency } = useSession()
  const amount = <Money amount={row.margin ?? null} currency={currency} isBare={!isWhole} />
  if (!isNegative(row)) return amount
  return (
    <Text component="span" inherit c="red" style={{ whiteSpace: 'nowrap' }}>
      {amount} <State state="failed" label={t('loss')} />
    </Text>
  )
}

function MarginChart({ times, rows }: { times: readonly string[]; rows: readonly UsageRow[] }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const values = (of: (cost: number, margin: number) => number) =>
    times.map((day) => {
      const row = byDay.get(day)
      return of(Number(row?.cost ?? 0), Number(row?.margin ?? 0))
    })
  // A bar is what is left of charges after refunds; a loss stands on top of it.
  const loss = values((_, margin) => Math.max(-margin, 0))
  const series = [
    {
      name: t('cost'),
      color: restColor,
      values: values((cost, margin) => Math.min(cost, cost + margin)),
    },
    { name: t('margin'), color: 'var(--c1)', values: values((_, margin) => Math.max(margin, 0)) },
    ...(loss.some((value) => value > 0)
      ? [{ name: t('loss'), color: 'var(--bad-mark)', values: loss }]
      : []),
  ]
  return (
    <Card withBorder>
      <Chart
        label={t('over_time')}
        by="day"
        moments={times.map((day) => Date.parse(day))}
        series={series}
        format={(value) => format.money(String(value), currency)}
        axis={(value) => `${format.compact(value)} ${currency}`}
      />
    </Card>
  )
}

function MarginTable({
  group,
  rows,
  isLoading,
}: {
  group: MarginKey
  rows: readonly UsageRow[]
  isLoading: boolean
}) {
  const t = useMessages(messages)
  const columns = useColumns(group)
  return (
    <DataTable
      label={t('by', { key: t(group) })}
      columns={columns}
      rows={rows}
      rowKey={(row) => nameIn(row, group) ?? ''}
      isLoading={isLoading}
      empty={
        <Center p="xl">
          <Text c="dimmed">{t('nothing')}</Text>
        </Center>
      }
    />
  )
}

const nameIn = (row: UsageRow, group: MarginKey): string | null | undefined => row[group]

function useColumns(group: MarginKey): Column<UsageRow>[] {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const money = (
    name: 'charged' | 'refunded' | 'cost',
    of: (row: UsageRow) => string | undefined,
  ) =>
    numberColumn<UsageRow>(
      withUnit(t(name), currency),
      '120px',
      (row) => <Money amount={of(row) ?? null} currency={currency} isBare />,
      { id: name, sort: (row) => Number(of(row)) },
    )
  return [
    useNameColumn(group),
    numberColumn(t('count'), '110px', ({ charges }) => format.number(charges), {
      id: 'count',
      sort: ({ charges }) => charges,
    }),
    money('charged', ({ amount }) => amount),
    money('refunded', refundedIn),
    money('cost', ({ cost }) => cost),
    numberColumn(withUnit(t('margin'), currency), '170px', (row) => <MarginAmount row={row} />, {
      id: 'margin',
      sort: ({ margin }) => Number(margin),
    }),
    numberColumn(t('share'), '100px', (row) => shown(shareOf(row), format.percent), {
      id: 'share',
      sort: shareOf,
    }),
    numberColumn(t('unknown'), '110px', ({ cost_unknown = 0 }) => format.number(cost_unknown), {
      id: 'unknown',
      sort: ({ cost_unknown }) => cost_unknown,
    }),
  ]
}

function useNameColumn(group: MarginKey): Column<UsageRow> {
  const t = useMessages(messages)
  const format = useFormat()
  const displayName = useDisplayNames()
  const cell = (row: UsageRow) => {
    const name = nameIn(row, group)
    if (name === null || name === undefined) return <Text c="dimmed">{t('not_known')}</Text>
    if (group === 'account') return <AccountName name={name} displayName={displayName(name)} />
    return <Name name={group === 'day' ? format.utcDay(name) : name} />
  }
  return column(t(group), '200px', cell, {
    id: group,
    isPrivate: group === 'account',
    sort: (row) => nameIn(row, group),
  })
}
