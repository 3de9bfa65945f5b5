// A statement by outcome: how many lines, what the upstream billed and what the gateway charged. What
// does not match comes first.
import { Table, Text } from '@mantine/core'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Money, State } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import {
  type Outcome,
  type OutcomeSum,
  outcomes,
  type Statement,
} from '../../lib/resources/bill.ts'
import { decimalOf, measured } from '../../lib/resources/usage.ts'
import { messages } from './messages.ts'

export const outcomeColors: Readonly<Record<Outcome, string>> = {
  matched: 'matched',
  quantity_differs: 'unknown',
  amount_differs: 'unknown',
  loss: 'queued',
  gateway_only: 'failed',
  upstream_only: 'failed',
}

type Sums = Pick<OutcomeSum, 'lines' | 'amount' | 'our_amount'>

const nanos = (amount: string): bigint => measured({ amount } as never, 'amount')

/** Of some outcomes, exactly. */
export function sumOf({ outcomes: sums }: Statement, of: readonly Outcome[]): Sums {
  const total = (field: 'amount' | 'our_amount') =>
    decimalOf(of.reduce((sum, outcome) => sum + nanos(sums[outcome][field]), 0n))
  return {
    lines: of.reduce((sum, outcome) => sum + sums[outcome].lines, 0),
    amount: total('amount'),
    our_amount: total('our_amount'),
  }
}

export const differenceOf = ({ amount, our_amount }: Sums): string =>
  decimalOf(nanos(amount) - nanos(our_amount))

export const mismatches = outcomes.filter((outcome) => outcome !== 'matched')

export function OutcomeSums({ statement }: { statement: Statement }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { currency } = statement
  const money = (amount: string) => <Money amount={amount} currency={currency} />
  const total = sumOf(statement, outcomes)
  const rows = outcomes.filter((outcome) => statement.outcomes[outcome].lines > 0)
  return (
    <>
      <SimpleTable
        label={t('by_outcome')}
        minWidth={560}
        rows={rows}
        rowKey={(outcome) => outcome}
        columns={[
          {
            title: t('outcome'),
            cell: (outcome) => <State state={outcomeColors[outcome]} label={t(outcome)} />,
          },
          {
            title: t('lines'),
            align: 'right',
            cell: (outcome) => format.number(statement.outcomes[outcome].lines),
          },
          {
            title: t('theirs'),
            align: 'right',
            cell: (outcome) => money(statement.outcomes[outcome].amount),
          },
          {
            title: t('ours'),
            align: 'right',
            cell: (outcome) => money(statement.outcomes[outcome].our_amount),
          },
          {
            title: t('difference'),
            align: 'right',
            cell: (outcome) => money(differenceOf(statement.outcomes[outcome])),
          },
        ]}
      >
        <Table.Tr>
          <Table.Th>{t('total')}</Table.Th>
          <Table.Th ta="right">{format.number(total.lines)}</Table.Th>
          <Table.Th ta="right">{money(total.amount)}</Table.Th>
          <Table.Th ta="right">{money(total.our_amount)}</Table.Th>
          <Table.Th ta="right">{money(differenceOf(total))}</Table.Th>
        </Table.Tr>
      </SimpleTable>
      <Text size="xs" c="dimmed">
        {statement.cost_factor === null
          ? t('amounts_not_compared')
          : t('amounts_compared', { factor: statement.cost_factor })}
      </Text>
    </>
  )
}
