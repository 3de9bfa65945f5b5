// The usage explorer: one measure by one or two groups over time, as a chart and a table, compared with
// the previous period. All of it is part of the address and can be saved as a view.
import { Button, Card, Center, Group as Row, Select, Skeleton, Switch, Text } from '@mantine/core'
import { Chart } from '../../components/charts/chart.tsx'
import { restColor, seriesColors } from '../../components/charts/series.ts'
import { AccountSelect } from '../../components/fields/account-select.tsx'
import { ErrorAlert, Page } from '../../components/page.tsx'
import { SavedViews } from '../../components/table/saved-views.tsx'
import type { Page as ListPage } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { lastMonths } from '../../lib/resources/bill.ts'
import { saveCsv } from '../../lib/resources/save-csv.ts'
import type { Account } from '../../lib/resources/token.ts'
import {
  billionths,
  drawn,
  type Group,
  goTogether,
  groupingFor,
  groupRows,
  groups,
  isMonth,
  type Keys,
  type Measure,
  measures,
  monthPeriod,
  type Period,
  periodOf,
  type RollUp,
  ranges,
  rollUps,
  timesOf,
  tops,
  type UsageRow,
  useUsage,
} from '../../lib/resources/usage.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { messages } from './messages.ts'
import { Totals, useShown } from './totals.tsx'
import { useName } from './use-name.ts'
import { useWord, type Word } from './use-word.ts'

/** Of more than five, some look alike: they are told apart by their place and by the legend. */
const colors = [...seriesColors, ...seriesColors, restColor]

/** The parameters of the address that make a view. */
const viewParams = ['measure', 'group', 'subgroup', 'per', 'days', 'top', 'compare', 'account']

const monthsShown = 24

function useChoice<T extends string>(name: string, all: readonly T[], first: T) {
  const [value, set] = useQueryValue(name)
  const chosen = all.find((each) => each === value) ?? first
  return [
    chosen,
    (next: string | null) => set(next === first ? undefined : (next ?? undefined)),
  ] as const
}

function useChoices() {
  const session = useSession()
  const own = session.account === null ? groups : groups.filter((each) => each !== 'account')
  const mine: readonly Group[] = [...own, ...useTagGroups()]
  const [measure, setMeasure] = useChoice<Measure>('measure', measures, 'amount')
  const [group, setGroup] = useChoice<Group>('group', mine, 'model')
  const subgroups = ['none', ...mine.filter((each) => goTogether(group, each))] as const
  const [second, setSubgroup] = useChoice<Group | 'none'>('subgroup', subgroups, 'none')
  const [rollUp, setRollUp] = useChoice<RollUp>('per', rollUps, 'day')
  const [days, setDays] = useChoice(
    'days',
    [...ranges.map(String), ...lastMonths(monthsShown)],
    '30',
  )
  const [account, setAccount] = useQueryValue('account')
  const [top, setTop] = useChoice('top', tops, '5')
  const [compares, setCompares] = useQueryValue('compare')
  const subgroup = second === 'none' ? undefined : second
  return {
    keys: { group, subgroup } satisfies Keys,
    ...{ mine, subgroups, measure, rollUp, days, top, second, isCompared: compares !== undefined },
    ...{ account, setAccount },
    ...{ setMeasure, setGroup, setSubgroup, setRollUp, setDays, setTop, setCompares },
  }
}

/** A group for each tag that accounts declare. */
function useTagGroups(): readonly Group[] {
  const accounts = useResource<ListPage<Account>>('/accounts', {
    query: { limit: 500 },
  })
  const names = accounts.data?.items.flatMap(({ tag_names }) => tag_names) ?? []
  return [...new Set(names)].sort().map((name) => `tag:${name}` as const)
}

/** `back`: the one before it. */
function rangeOf(range: string, rollUp: RollUp, back = 0): Period {
  if (isMonth(range)) return monthPeriod(range, back)
  const days = Number(range)
  return periodOf(rollUp === 'hour' ? Math.min(days, 31) : days, back)
}

export default function Usage() {
  const t = useMessages(messages)
  const chosen = useChoices()
  const { keys, rollUp, measure, isCompared } = chosen
  const by = groupingFor(keys, measure)
  const period = rangeOf(chosen.days, rollUp)
  const now = useUsage(period, `${rollUp},${by}`, true, chosen.account)
  const before = useUsage(rangeOf(chosen.days, rollUp, 1), by, isCompared, chosen.account)
  const rows = now.data?.items ?? []
  const top = Number(chosen.top)
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <>
          <SavedViews names={viewParams} />
          <Button
            variant="default"
            size="xs"
            onClick={() => saveCsv(rows)}
            disabled={rows.length === 0}
          >
            {t('export_csv')}
          </Button>
        </>
      }
    >
      <Choices {...chosen} />
      <ErrorAlert error={now.error ?? before.error} />
      {now.isLoading ? (
        <Skeleton height={200} />
      ) : now.error !== null ? null : rows.length === 0 ? (
        <Center p="xl">
          <Text c="dimmed">{t('nothing')}</Text>
        </Center>
      ) : (
        <>
          <UsageChart
            period={period}
            rows={rows}
            keys={keys}
            rollUp={rollUp}
            measure={measure}
            top={top}
          />
          <Totals
            rows={rows}
            before={isCompared ? before.data?.items : undefined}
            keys={keys}
            measure={measure}
            top={top}
            period={period}
          />
        </>
      )}
    </Page>
  )
}

function Choices(chosen: ReturnType<typeof useChoices>) {
  const t = useMessages(messages)
  const session = useSession()
  const { keys, mine, subgroups, measure, rollUp } = chosen
  return (
    <Row align="flex-end">
      <Choice label={t('measure')} value={measure} all={measures} onChange={chosen.setMeasure} />
      <Choice label={t('group')} value={keys.group} all={mine} onChange={chosen.setGroup} />
      <Choice
        label={t('subgroup')}
        value={chosen.second}
        all={subgroups}
        onChange={chosen.setSubgroup}
      />
      <Choice label={t('roll_up')} value={rollUp} all={rollUps} onChange={chosen.setRollUp} />
      <Select
        label={t('range')}
        data={[
          {
            group: t('rolling'),
            items: ranges.map((each) => ({ value: String(each), label: t(`days_${each}`) })),
          },
          { group: t('calendar'), items: lastMonths(monthsShown) },
        ]}
        value={chosen.days}
        allowDeselect={false}
        w={150}
        onChange={chosen.setDays}
      />
      <Select
        label={t('top')}
        data={[...tops]}
        value={chosen.top}
        allowDeselect={false}
        w={90}
        onChange={chosen.setTop}
      />
      {session.account === null && (
        <AccountSelect
          placeholder={t('all_accounts')}
          value={chosen.account}
          onChange={(name) => chosen.setAccount(name)}
        />
      )}
      <Switch
        mb={8}
        label={t('compare')}
        checked={chosen.isCompared}
        onChange={(event) => chosen.setCompares(event.currentTarget.checked ? '1' : undefined)}
      />
    </Row>
  )
}

function Choice({
  label,
  value,
  all,
  onChange,
}: {
  label: string
  value: Word
  all: readonly Word[]
  onChange: (value: string | null) => void
}) {
  const word = useWord()
  return (
    <Select
      label={label}
      data={all.map((each) => ({ value: each, label: word(each) }))}
      value={value}
      allowDeselect={false}
      w={150}
      onChange={onChange}
    />
  )
}

function UsageChart({
  period,
  rows,
  keys,
  rollUp,
  measure,
  top,
}: {
  period: Period
  rows: readonly UsageRow[]
  keys: Keys
  rollUp: RollUp
  measure: Measure
  top: number
}) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = useSession()
  const word = useWord()
  const show = useShown(measure)
  const shownName = useName(keys)
  const other = t('other')
  const { names, values } = groupRows(rows, keys, { rollUp, measure, top, other })
  const times = timesOf(period, rollUp)
  return (
    <Card withBorder>
      <Chart
        label={`${t(measure)} / ${word(keys.group)}`}
        by={rollUp}
        {...(measure === 'amount' && {
          axis: (value: number) => `${format.compact(value)} ${currency}`,
        })}
        moments={times.map((time) => Date.parse(time))}
        format={(value) => show(BigInt(Math.round(value * Number(billionths))))}
        series={names.map((name, i) => ({
          name: shownName(name),
          color: name === other ? colors.at(-1)! : colors[i % colors.length]!,
          values: times.map((time) => drawn(values.get(name)?.get(time) ?? 0n)),
        }))}
      />
    </Card>
  )
}
