// A month of a channel: what explains the difference, the lines behind it, the file for a dispute, and closing it.
import { Alert, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { ChannelMonthView, MonthLineView } from '../../../src/admin/months/month-schema.ts'
import { CopyId } from '../../components/copy.tsx'
import { DetailsDrawer, PropertyList } from '../../components/drawer.tsx'
import { ErrorAlert } from '../../components/page.tsx'
import { type Column, DataTable, numberColumn } from '../../components/table/data-table.tsx'
import { Money, State, Time } from '../../components/values.tsx'
import { type Page, type Query, queryString } from '../../lib/api.ts'
import { useFormat } from '../../lib/format.ts'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { pageOf } from '../../lib/resources/bill.ts'
import { Link, useQueryValue } from '../../lib/router.tsx'
import { useResource } from '../../lib/use-resource.ts'
import { CloseChannel } from './close-channel.tsx'
import { messages, reasonText } from './messages.ts'

export function ChannelDrawer({
  month,
  channel,
  onClose,
  onChanged,
}: {
  month: string
  channel: string | undefined
  onClose: () => void
  onChanged: () => void
}) {
  const [isClosing, setClosing] = useState(false)
  const found = useResource<Page<ChannelMonthView>>(`/months/${month}/channels`, {
    query: { channel: channel ?? '' },
    enabled: channel !== undefined,
  })
  const shown = found.data?.items[0]
  const isShown = shown !== undefined && shown.channel === channel && shown.month === month
  return (
    <DetailsDrawer
      title={`${channel ?? ''} · ${month}`}
      isOpen={channel !== undefined}
      isLocked={isClosing}
      onClose={onClose}
      size="90%"
    >
      <ErrorAlert error={found.error} />
      {isShown && <Body shown={shown} onClosing={() => setClosing(true)} />}
      {isShown && isClosing && (
        <CloseChannel
          shown={shown}
          onClose={() => setClosing(false)}
          onDone={() => {
            void found.refetch()
            onChanged()
          }}
        />
      )}
    </DetailsDrawer>
  )
}

function Body({ shown, onClosing }: { shown: ChannelMonthView; onClosing: () => void }) {
  const t = useMessages(messages)
  const { month, channel, state, statements, missing_days } = shown
  const file = (path: string, query: Query) =>
    `/admin/v1/months/${month}/${path}${queryString(query)}`
  return (
    <Stack>
      <Group>
        <Button
          component="a"
          variant="default"
          href={file('dispute', { channel, format: 'csv' })}
          download
        >
          {t('dispute')}
        </Button>
        {state === 'open' ? (
          <Button onClick={onClosing}>{t('close')}</Button>
        ) : (
          <Button
            component="a"
            variant="default"
            href={file('channels', { channel })}
            download={`${channel}-${month}.json`}
          >
            {t('closing_file')}
          </Button>
        )}
      </Group>
      {state === 'open' && statements.length === 0 && <Alert>{t('no_statement')}</Alert>}
      {statements.length > 0 && missing_days.length > 0 && (
        <Text size="sm">{t('missing_days', { days: missing_days.join(', ') })}</Text>
      )}
      <Closing shown={shown} />
      <Reasons shown={shown} />
      <Lines shown={shown} />
    </Stack>
  )
}

function Closing({ shown }: { shown: ChannelMonthView }) {
  const t = useMessages(messages)
  const format = useFormat()
  const { closing, late_lines, late_amount, currency, is_signed } = shown
  if (closing === null) return null
  const { amount, by, at, note, reason } = closing.booked
  return (
    <>
      {is_signed === false && <Alert color="red">{t('not_signed')}</Alert>}
      {late_lines > 0 && (
        <Alert color="yellow">
          {t('late', {
            n: format.number(late_lines),
            amount: format.exact(late_amount, currency),
          })}
        </Alert>
      )}
      <PropertyList
        rows={[
          [t('closed_by', { by }), <Time key="at" at={at} />],
          [t('booked'), <Money key="amount" amount={amount} currency={currency} how="cost" />],
          [t('close_note'), note ?? '–'],
          [t('close_reason'), reason ?? '–'],
        ]}
      />
    </>
  )
}

type Reason = ChannelMonthView['explained_by'][number]

function Reasons({ shown }: { shown: ChannelMonthView }) {
  const t = useMessages(messages)
  const money = (title: string, of: (row: Reason) => string) =>
    numberColumn<Reason>(title, '150px', (row) => (
      <Money amount={of(row)} currency={shown.currency} how="cost" />
    ))
  const columns: Column<Reason>[] = [
    {
      title: t('explained_by'),
      cell: ({ reason, explained }) => (
        <State state={explained ? 'good' : 'failed'} label={t(reasonText(reason))} />
      ),
    },
    numberColumn(t('lines'), '100px', ({ lines }) => lines),
    money(t('invoice'), ({ invoice }) => invoice),
    money(t('ours'), ({ ours }) => ours),
    money(t('difference'), ({ difference }) => difference),
  ]
  return (
    <DataTable
      label={t('explained_by')}
      columns={columns}
      rows={shown.explained_by}
      rowKey={({ reason }) => reason}
      empty={<Text c="dimmed">{t('no_lines')}</Text>}
    />
  )
}

const choices = ['unexplained', 'all', 'late'] as const
type Choice = (typeof choices)[number]

const filters: Readonly<Record<Choice, Query>> = {
  unexplained: { unexplained: true },
  all: {},
  late: { late: true },
}

function Lines({ shown }: { shown: ChannelMonthView }) {
  const t = useMessages(messages)
  const { month, channel, late_lines } = shown
  const [asked, setChoice] = useQueryValue('lines')
  const choice = choices.find((each) => each === asked) ?? 'unexplained'
  const list = useList<MonthLineView>(`/months/${month}/lines`, { channel, ...filters[choice] })
  const columns = useLineColumns(shown.currency)
  return (
    <>
      <SegmentedControl
        aria-label={t('lines')}
        value={choice}
        onChange={(value) => setChoice(value === 'unexplained' ? undefined : value)}
        data={[
          { value: 'unexplained', label: t('unexplained_only') },
          { value: 'all', label: t('all_lines') },
          ...(late_lines > 0 ? [{ value: 'late', label: t('late_only') }] : []),
        ]}
      />
      <DataTable
        label={t('lines')}
        columns={columns}
        {...tableProps(list)}
        rowKey={({ statement, line }) => `${statement} ${line}`}
        empty={<Text c="dimmed">{t('no_lines')}</Text>}
        height="50vh"
      />
    </>
  )
}

function useLineColumns(currency: string): Column<MonthLineView>[] {
  const t = useMessages(messages)
  const money = (title: string, of: (row: MonthLineView) => string) =>
    numberColumn<MonthLineView>(title, '140px', (row) => (
      <Money amount={of(row)} currency={currency} how="cost" />
    ))
  return [
    { title: t('reason'), width: '190px', cell: ({ reason }) => t(reasonText(reason)) },
    { title: t('day'), width: '110px', cell: ({ day }) => day ?? '–' },
    { title: t('model'), width: '140px', cell: ({ model }) => model ?? '–' },
    {
      title: t('upstream_id'),
      width: '180px',
      cell: ({ upstream_id }) => <CopyId id={upstream_id} />,
    },
    money(t('invoice'), ({ amount }) => amount),
    money(t('ours'), ({ our_amount }) => our_amount),
    money(t('difference'), ({ difference }) => difference),
    {
      title: t('request'),
      width: '180px',
      cell: ({ request_ids }) => <Ours id={request_ids[0]} />,
    },
  ]
}

function Ours({ id }: { id: string | undefined }) {
  const page = pageOf(id ?? null)
  if (page === undefined) return id ?? '–'
  return <Link to={page}>{id}</Link>
}
