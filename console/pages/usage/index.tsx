// The usage explorer: one measure by one group over time, as bars and as a table, against the period
// before if wanted. All of it is in the address.
import { Button, Card, Center, Group as Row, Select, Switch, Table, Text } from '@mantine/core'
import { useFormat } from '../../lib/format.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { useWords } from '../../lib/words.ts'
import { Bars } from '../../parts/chart.tsx'
import { ErrorNote, Page } from '../../parts/page.tsx'
import { common } from '../../parts/words.ts'
import {
  type Group,
  groupRows,
  groups,
  type Measure,
  measured,
  measures,
  type Period,
  periodOf,
  type RollUp,
  ranges,
  rollUps,
  timesOf,
  type UsageRow,
  useUsage,
} from './usage.ts'
import { words } from './words.ts'

const colours = ['indigo', 'teal', 'orange', 'pink', 'cyan', 'lime', 'violet', 'gray'].map(
  (name) => `var(--mantine-color-${name}-6)`,
)

function useChoice<T extends string>(name: string, all: readonly T[], first: T) {
  const [value, set] = useQueryValue(name)
  const chosen = all.find((each) => each === value) ?? first
  return [
    chosen,
    (next: string | null) => set(next === first ? undefined : (next ?? undefined)),
  ] as const
}

export default function Usage() {
  const say = useWords(words)
  const shared = useWords(common)
  const session = useSession()
  const mine = session.account === null ? groups : groups.filter((each) => each !== 'account')
  const [measure, setMeasure] = useChoice<Measure>('measure', measures, 'amount')
  const [group, setGroup] = useChoice<Group>('group', mine, 'model')
  const [rollUp, setRollUp] = useChoice<RollUp>('per', rollUps, 'day')
  const [days, setDays] = useChoice('days', ranges.map(String), '30')
  const [compares, setCompares] = useQueryValue('compare')
  const span = rollUp === 'hour' ? Math.min(Number(days), 31) : Number(days)
  const by = `${rollUp},${group}`
  const period = periodOf(span)
  const now = useUsage(period, by)
  const before = useUsage(periodOf(span, 1), group, compares !== undefined)
  const rows = now.data?.items ?? []
  return (
    <Page
      title={say('title')}
      hint={say('hint')}
      actions={<ExportButton rows={rows} label={shared('export_csv')} />}
    >
      <Row align="flex-end">
        <Choice label={say('measure')} value={measure} all={measures} onChange={setMeasure} />
        <Choice label={say('group')} value={group} all={mine} onChange={setGroup} />
        <Choice label={say('roll_up')} value={rollUp} all={rollUps} onChange={setRollUp} />
        <Select
          label={say('range')}
          data={ranges.map((each) => ({ value: String(each), label: say(`days_${each}`) }))}
          value={days}
          allowDeselect={false}
          w={130}
          onChange={setDays}
        />
        <Switch
          mb={8}
          label={say('compare')}
          checked={compares !== undefined}
          onChange={(event) => setCompares(event.currentTarget.checked ? '1' : undefined)}
        />
      </Row>
      <ErrorNote error={now.error} />
      {rows.length === 0 && !now.isLoading ? (
        <Center p="xl">
          <Text c="dimmed">{say('nothing')}</Text>
        </Center>
      ) : (
        <Chart period={period} rows={rows} group={group} rollUp={rollUp} measure={measure} />
      )}
      <Totals
        rows={rows}
        before={compares === undefined ? undefined : before.data?.items}
        group={group}
        measure={measure}
      />
    </Page>
  )
}

type Word = Measure | Group | RollUp

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
  const say = useWords(words)
  return (
    <Select
      label={label}
      data={all.map((each) => ({ value: each, label: say(each) }))}
      value={value}
      allowDeselect={false}
      w={150}
      onChange={onChange}
    />
  )
}

function useShown(measure: Measure): (value: number) => string {
  const format = useFormat()
  const { currency } = useSession()
  return (value) =>
    measure === 'amount' ? format.money(value.toFixed(6), currency) : format.number(value)
}

function Chart({
  period,
  rows,
  group,
  rollUp,
  measure,
}: {
  period: Period
  rows: readonly UsageRow[]
  group: Group
  rollUp: RollUp
  measure: Measure
}) {
  const say = useWords(words)
  const show = useShown(measure)
  const { names, values } = groupRows(rows, group, rollUp, measure, say('other'))
  const times = timesOf(period, rollUp)
  return (
    <Card withBorder>
      <Bars
        label={`${say(measure)} / ${say(group)}`}
        labels={times.map((time) => time.replace('T', ' ').replace(':00:00Z', ':00'))}
        format={show}
        series={names.map((name, i) => ({
          name,
          color: colours[i % colours.length]!,
          values: times.map((time) => values.get(name)?.get(time) ?? 0),
        }))}
      />
    </Card>
  )
}

function sumsOf(rows: readonly UsageRow[], group: Group, measure: Measure): Map<string, number> {
  const sums = new Map<string, number>()
  for (const row of rows) {
    const name = row[group] ?? '–'
    sums.set(name, (sums.get(name) ?? 0) + measured(row, measure))
  }
  return sums
}

function Totals({
  rows,
  before,
  group,
  measure,
}: {
  rows: readonly UsageRow[]
  before: readonly UsageRow[] | undefined
  group: Group
  measure: Measure
}) {
  const say = useWords(words)
  const format = useFormat()
  const show = useShown(measure)
  const sums = [...sumsOf(rows, group, measure)].sort(([, a], [, b]) => b - a)
  const old = before && sumsOf(before, group, measure)
  const total = sums.reduce((sum, [, value]) => sum + value, 0)
  const changeOf = (name: string, value: number) => {
    const was = old?.get(name) ?? 0
    return was === 0 ? '–' : format.percent(value / was - 1)
  }
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say(group)}</Table.Th>
          <Table.Th ta="right">{say(measure)}</Table.Th>
          <Table.Th ta="right">%</Table.Th>
          {old !== undefined && <Table.Th ta="right">{say('before')}</Table.Th>}
          {old !== undefined && <Table.Th ta="right">{say('change')}</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sums.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Td>{name}</Table.Td>
            <Table.Td ta="right">{show(value)}</Table.Td>
            <Table.Td ta="right">{total === 0 ? '–' : format.percent(value / total)}</Table.Td>
            {old !== undefined && <Table.Td ta="right">{show(old.get(name) ?? 0)}</Table.Td>}
            {old !== undefined && <Table.Td ta="right">{changeOf(name, value)}</Table.Td>}
          </Table.Tr>
        ))}
        <Table.Tr>
          <Table.Th>{say('total')}</Table.Th>
          <Table.Th ta="right">{show(total)}</Table.Th>
          <Table.Th />
          {old !== undefined && <Table.Th />}
          {old !== undefined && <Table.Th />}
        </Table.Tr>
      </Table.Tbody>
    </Table>
  )
}

/** Made here, from what is shown: amounts as they came, to the billionth. */
function ExportButton({ rows, label }: { rows: readonly UsageRow[]; label: string }) {
  const save = () => {
    const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
    const cell = (value: unknown) => {
      const text = value === null || value === undefined ? '' : String(value)
      const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text
      return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
    }
    const lines = rows.map((row) =>
      names.map((name) => cell(row[name as keyof UsageRow])).join(','),
    )
    const text = `\uFEFF${[names.join(','), ...lines].join('\r\n')}\r\n`
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
    link.download = 'usage.csv'
    link.click()
    URL.revokeObjectURL(link.href)
  }
  return (
    <Button variant="default" onClick={save} disabled={rows.length === 0}>
      {label}
    </Button>
  )
}
