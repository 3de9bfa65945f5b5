// One bill: its tabularNumbers, the cost by model, token and day, its lines down to requests and tasks; closing,
// downloading and correcting it.

import { Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Credit, type CreditDraft } from '../../components/billing/credit.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { DetailsDrawer } from '../../components/drawer.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { withUnit } from '../../components/table/data-table.tsx'
import { SimpleTable } from '../../components/table/simple-table.tsx'
import { Money, Time } from '../../components/values.tsx'
import { api, queryString } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { useLanguage } from '../../lib/i18n.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { type Bill, type Line, thisMonth } from '../../lib/resources/bill.ts'
import { setQuery, useQueryValue } from '../../lib/router.tsx'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { hasRole, useSession } from '../../lib/session.ts'
import { useResource } from '../../lib/use-resource.ts'
import { BillTags } from './by-tag.tsx'
import { BillDays } from './days.tsx'
import { BillFigures } from './figures.tsx'
import { BillLines } from './lines.tsx'
import { messages } from './messages.ts'
import { SendOne } from './send-one.tsx'
import { ShareBill } from './share.tsx'
import { VerifyLedger } from './verify.tsx'

export function BillDrawer() {
  const t = useMessages(messages)
  const [opened, setOpened] = useQueryValue('open')
  const [month = '', ...rest] = (opened ?? '').split(' ')
  const account = rest.join(' ')
  const { data: bill, error } = useResource<Bill>('/bills', {
    query: { account, month },
    enabled: account !== '',
  })
  const [credit, setCredit] = useState<CreditDraft>()
  const queryClient = useQueryClient()
  const mayCredit = hasRole(useSession(), ['finance'])
  // An amount is text: the credit is the charge without its sign.
  const creditFor = ({ amount, task_id, request_id, id }: Line) =>
    setCredit({
      amount: amount.replace(/^-/, ''),
      note: t('credit_note_for', { ref: task_id ?? request_id ?? id }),
    })
  return (
    <DetailsDrawer
      title={<span className={privateClass}>{`${account} · ${month}`}</span>}
      isOpen={account !== ''}
      onClose={() => setOpened(undefined)}
      isLocked={credit !== undefined}
      size="80%"
    >
      <ErrorAlert error={error} />
      {bill !== undefined && (
        <Stack>
          <BillActions bill={bill} onCredit={() => setCredit(noDraft)} />
          {credit !== undefined && (
            <Credit
              account={account}
              draft={credit}
              onClose={() => setCredit(undefined)}
              onDone={() => void queryClient.invalidateQueries()}
            />
          )}
          <BillFigures bill={bill} />
          <Tabs defaultValue="models" keepMounted={false}>
            <Tabs.List>
              <Tabs.Tab value="models">{t('by_model')}</Tabs.Tab>
              <Tabs.Tab value="tokens">{t('by_token')}</Tabs.Tab>
              <Tabs.Tab value="tags">{t('by_tag')}</Tabs.Tab>
              <Tabs.Tab value="days">{t('by_day')}</Tabs.Tab>
              <Tabs.Tab value="movements">{t('movements')}</Tabs.Tab>
              <Tabs.Tab value="lines">{t('lines')}</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="models" pt="sm">
              <ByModel bill={bill} />
            </Tabs.Panel>
            <Tabs.Panel value="tokens" pt="sm">
              <ByToken bill={bill} />
            </Tabs.Panel>
            <Tabs.Panel value="tags" pt="sm">
              <BillTags account={account} month={month} />
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
    </DetailsDrawer>
  )
}

const noDraft: CreditDraft = { amount: '', note: '' }

type Doing = 'close' | 'share'

function BillActions({ bill, onCredit }: { bill: Bill; onCredit: () => void }) {
  const t = useMessages(messages)
  const language = useLanguage()
  const session = useSession()
  const [doing, setDoing] = useState<Doing>()
  const { account, month, state } = bill
  const isFinance = hasRole(session, ['finance'])
  const mayClose = isFinance && state === 'open' && month < thisMonth()
  return (
    <Group gap="xs" align="flex-start">
      <Button
        component="a"
        variant="default"
        href={`/admin/v1/bills${queryString({ account, month, format: 'csv' })}`}
        download
      >
        {t('csv')}
      </Button>
      <Button
        component="a"
        variant="default"
        target="_blank"
        rel="noreferrer"
        href={`/admin/v1/bills/statement${queryString({ account, month, lang: language })}`}
      >
        {t('statement')}
      </Button>
      <Button variant="default" onClick={() => setDoing('share')}>
        {t('share')}
      </Button>
      {isFinance && (
        <Button variant="default" onClick={onCredit}>
          {t('new_credit')}
        </Button>
      )}
      {mayClose && <Button onClick={() => setDoing('close')}>{t('close_month')}</Button>}
      {isFinance && state === 'closed' && <SendOne account={account} month={month} />}
      {isFinance && <VerifyLedger account={account} />}
      <Button variant="subtle" onClick={() => setQuery({ account, open: undefined })}>
        {t('months', { account })}
      </Button>
      <BillDialogs bill={bill} doing={doing} onClose={() => setDoing(undefined)} />
    </Group>
  )
}

function BillDialogs({
  bill: { account, month },
  doing,
  onClose,
}: {
  bill: Bill
  doing: Doing | undefined
  onClose: () => void
}) {
  const t = useMessages(messages)
  const queryClient = useQueryClient()
  return (
    <>
      <ShareBill account={account} month={month} isOpen={doing === 'share'} onClose={onClose} />
      <Confirm
        title={t('close_month')}
        text={t('close_text')}
        action={t('close_month')}
        keep={t('keep_open')}
        isFinal
        isOpen={doing === 'close'}
        onClose={onClose}
        onConfirm={async () => {
          await api('POST', '/bills/close', { body: { account, month } })
          void queryClient.invalidateQueries()
        }}
      />
    </>
  )
}

function ByModel({ bill }: { bill: Bill }) {
  const t = useMessages(messages)
  const server = useServerText()
  const format = useFormat()
  return (
    <SimpleTable
      label={t('by_model')}
      rows={bill.totals}
      rowKey={({ model, unit }) => `${model} ${unit}`}
      columns={[
        { title: t('model'), cell: ({ model }) => model },
        { title: t('unit'), cell: ({ unit }) => server.text('unit', unit ?? '') },
        { title: t('count'), align: 'right', cell: ({ charges }) => format.number(charges) },
        { title: t('quantity'), align: 'right', cell: ({ quantity }) => format.number(quantity) },
        { title: t('estimated'), align: 'right', cell: (row) => format.number(row.estimated) },
        amountColumn(t('amount'), bill),
      ]}
    />
  )
}

const amountColumn = (title: string, { currency }: Bill) => ({
  title: withUnit(title, currency),
  align: 'right' as const,
  cell: ({ amount }: { amount: string }) => <Money amount={amount} currency={currency} isBare />,
})

function ByToken({ bill }: { bill: Bill }) {
  const t = useMessages(messages)
  const format = useFormat()
  return (
    <SimpleTable
      label={t('by_token')}
      rows={bill.tokens}
      rowKey={({ token_id }) => token_id ?? ''}
      columns={[
        { title: t('token'), isPrivate: true, cell: (row) => row.name ?? row.token_id ?? '–' },
        { title: t('count'), align: 'right', cell: ({ charges }) => format.number(charges) },
        amountColumn(t('amount'), bill),
      ]}
    />
  )
}

function Movements({ bill }: { bill: Bill }) {
  const t = useMessages(messages)
  if (bill.movements.length === 0) return <Text c="dimmed">{t('none')}</Text>
  return (
    <SimpleTable
      label={t('movements')}
      rows={bill.movements}
      rowKey={({ id }) => id}
      columns={[
        { title: t('time'), cell: ({ at }) => <Time at={at} how="utc" /> },
        { title: t('kind'), cell: ({ kind }) => t(kind) },
        { title: t('note'), isPrivate: true, cell: ({ note }) => note },
        amountColumn(t('amount'), bill),
      ]}
    />
  )
}
