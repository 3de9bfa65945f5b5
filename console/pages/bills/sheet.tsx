// One bill: its figures, what each model and token cost, its lines down to requests and tasks; closing
// it, taking it along, correcting it.
import { Button, Group, Stack, Table, Tabs, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, queryText } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { privateClass } from '../../lib/privacy.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { maySee, useSession } from '../../lib/session.ts'
import { useLanguage, useWords } from '../../lib/words.ts'
import { ConfirmByName } from '../../parts/confirm.tsx'
import { ExportButton } from '../../parts/export-button.tsx'
import { ErrorNote } from '../../parts/page.tsx'
import { Facts, Sheet } from '../../parts/sheet.tsx'
import { Money, State, Time } from '../../parts/values.tsx'
import { common } from '../../parts/words.ts'
import { type Bill, type Line, thisMonth } from './bill.ts'
import { type CreditDraft, CreditForm } from './credit-form.tsx'
import { BillDays } from './days.tsx'
import { BillLines } from './lines.tsx'
import { words } from './words.ts'

export function BillSheet() {
  const say = useWords(words)
  const [opened, setOpened] = useQueryValue('open')
  const [month = '', ...rest] = (opened ?? '').split(' ')
  const account = rest.join(' ')
  const { data: bill, error } = useQuery({
    queryKey: ['bill', account, month],
    queryFn: () => ask<Bill>('GET', '/bills', { query: { account, month } }),
    enabled: account !== '',
  })
  const [credit, setCredit] = useState<CreditDraft>()
  const mayCredit = maySee(useSession(), ['finance'])
  // An amount is text: the credit is the charge without its sign.
  const creditFor = ({ amount, task_id, request_id, id }: Line) =>
    setCredit({
      amount: amount.replace(/^-/, ''),
      note: say('credit_note_for', { ref: task_id ?? request_id ?? id }),
    })
  return (
    <Sheet
      title={<span className={privateClass}>{`${account} · ${month}`}</span>}
      isOpen={account !== ''}
      onClose={() => setOpened(undefined)}
      size="80%"
    >
      <ErrorNote error={error} />
      {bill !== undefined && (
        <Stack>
          <BillActions
            key={credit?.note}
            bill={bill}
            credit={credit}
            onCredited={() => setCredit(undefined)}
          />
          <BillFigures bill={bill} />
          <Tabs defaultValue="models" keepMounted={false}>
            <Tabs.List>
              <Tabs.Tab value="models">{say('by_model')}</Tabs.Tab>
              <Tabs.Tab value="tokens">{say('by_token')}</Tabs.Tab>
              <Tabs.Tab value="days">{say('by_day')}</Tabs.Tab>
              <Tabs.Tab value="movements">{say('movements')}</Tabs.Tab>
              <Tabs.Tab value="lines">{say('lines')}</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="models" pt="sm">
              <ByModel bill={bill} />
            </Tabs.Panel>
            <Tabs.Panel value="tokens" pt="sm">
              <ByToken bill={bill} />
            </Tabs.Panel>
            <Tabs.Panel value="days" pt="sm">
              <BillDays account={account} month={month} currency={bill.currency} />
            </Tabs.Panel>
            <Tabs.Panel value="movements" pt="sm">
              <Movements bill={bill} />
            </Tabs.Panel>
            <Tabs.Panel value="lines" pt="sm">
              <BillLines
                account={account}
                month={month}
                onCredit={mayCredit ? creditFor : undefined}
              />
            </Tabs.Panel>
          </Tabs>
        </Stack>
      )}
    </Sheet>
  )
}

function BillActions({
  bill: { account, month, state },
  credit,
  onCredited,
}: {
  bill: Bill
  /** Begun elsewhere in the bill. */
  credit: CreditDraft | undefined
  onCredited: () => void
}) {
  const say = useWords(words)
  const language = useLanguage()
  const session = useSession()
  const questions = useQueryClient()
  const [doing, setDoing] = useState<'close' | 'credit' | undefined>(credit && 'credit')
  const isFinance = maySee(session, ['finance'])
  const mayClose = isFinance && state === 'open' && month < thisMonth()
  const refresh = () => void questions.invalidateQueries()
  return (
    <Group gap="xs">
      <Button
        component="a"
        variant="default"
        href={`/admin/v1/bills${queryText({ account, month, format: 'csv' })}`}
        download
      >
        {say('csv')}
      </Button>
      <Button
        component="a"
        variant="default"
        target="_blank"
        rel="noreferrer"
        href={`/admin/v1/bills/statement${queryText({ account, month, lang: language })}`}
      >
        {say('statement')}
      </Button>
      <ExportButton kind="bill_lines" filters={{ account, month }} label={say('export_lines')} />
      {isFinance && (
        <Button variant="default" onClick={() => setDoing('credit')}>
          {say('new_credit')}
        </Button>
      )}
      {mayClose && <Button onClick={() => setDoing('close')}>{say('close_month')}</Button>}
      <Button variant="subtle" onClick={() => setQuery({ account, open: undefined })}>
        {say('months', { account })}
      </Button>
      <CreditForm
        account={account}
        draft={credit}
        isOpen={doing === 'credit'}
        onClose={() => {
          setDoing(undefined)
          onCredited()
        }}
        onDone={refresh}
      />
      <ConfirmByName
        name={month}
        title={say('close_month')}
        text={say('close_text')}
        action={say('close_month')}
        isOpen={doing === 'close'}
        onClose={() => setDoing(undefined)}
        onConfirm={async () => {
          await ask('POST', '/bills/close', { body: { account, month } })
          refresh()
        }}
      />
    </Group>
  )
}

function BillFigures({ bill }: { bill: Bill }) {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  const money = (amount: string) => <Money amount={amount} currency={bill.currency} />
  return (
    <Facts
      rows={[
        [
          shared('state'),
          <Group key="s" gap="xs">
            <State state={bill.state} label={say(bill.state)} />
            {bill.closed_at !== null && (
              <Text size="sm">{say('closed_on', { when: format.time(bill.closed_at) })}</Text>
            )}
          </Group>,
        ],
        [say('opening'), money(bill.opening_balance)],
        [say('credits'), money(bill.credits)],
        [say('adjustments'), money(bill.adjustments)],
        [say('charges'), money(bill.charges)],
        [say('count'), format.number(bill.charge_count)],
        [say('closing'), money(bill.closing_balance)],
      ]}
    />
  )
}

function ByModel({ bill }: { bill: Bill }) {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{shared('model')}</Table.Th>
          <Table.Th>{say('unit')}</Table.Th>
          <Table.Th ta="right">{say('count')}</Table.Th>
          <Table.Th ta="right">{say('quantity')}</Table.Th>
          <Table.Th ta="right">{say('estimated')}</Table.Th>
          <Table.Th ta="right">{say('amount')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {bill.totals.map((row) => (
          <Table.Tr key={`${row.model} ${row.unit}`}>
            <Table.Td>{row.model}</Table.Td>
            <Table.Td>{row.unit}</Table.Td>
            <Table.Td ta="right">{format.number(row.charges)}</Table.Td>
            <Table.Td ta="right">{format.number(row.quantity)}</Table.Td>
            <Table.Td ta="right">{format.number(row.estimated)}</Table.Td>
            <Table.Td ta="right">
              <Money amount={row.amount} currency={bill.currency} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function ByToken({ bill }: { bill: Bill }) {
  const say = useWords(words)
  const shared = useWords(common)
  const format = useFormat()
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{shared('token')}</Table.Th>
          <Table.Th ta="right">{say('count')}</Table.Th>
          <Table.Th ta="right">{say('amount')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {bill.tokens.map((row) => (
          <Table.Tr key={row.token_id}>
            <Table.Td className={privateClass}>{row.name ?? row.token_id ?? '–'}</Table.Td>
            <Table.Td ta="right">{format.number(row.charges)}</Table.Td>
            <Table.Td ta="right">
              <Money amount={row.amount} currency={bill.currency} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Movements({ bill }: { bill: Bill }) {
  const say = useWords(words)
  const shared = useWords(common)
  if (bill.movements.length === 0) return <Text c="dimmed">{shared('none')}</Text>
  return (
    <Table>
      <Table.Tbody>
        {bill.movements.map((row) => (
          <Table.Tr key={row.id}>
            <Table.Td>
              <Time at={row.at} />
            </Table.Td>
            <Table.Td>{say(row.kind)}</Table.Td>
            <Table.Td className={privateClass}>{row.note}</Table.Td>
            <Table.Td ta="right">
              <Money amount={row.amount} currency={bill.currency} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
