// A month against what upstreams billed: the steps that close it, and each channel with its difference.
import { Select, Text } from '@mantine/core'
import type { ChannelMonthView } from '../../../src/admin/months/month-schema.ts'
import { Page } from '../../components/page.tsx'
import {
  type Column,
  DataTable,
  numberColumn,
  withUnit,
} from '../../components/table/data-table.tsx'
import { Money, State } from '../../components/values.tsx'
import { tableProps, useList } from '../../lib/lists.ts'
import { useMessages } from '../../lib/messages.ts'
import { lastMonths } from '../../lib/resources/bill.ts'
import { useQueryValue } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { ChannelDrawer } from './channel-drawer.tsx'
import { messages } from './messages.ts'
import { Steps } from './steps.tsx'

const monthsShown = 36

export default function Month() {
  const t = useMessages(messages)
  const months = lastMonths(monthsShown)
  // The one that can be closed.
  const [month = months[1]!, setMonth] = useQueryValue('month')
  const [opened, setOpened] = useQueryValue('channel')
  const list = useList<ChannelMonthView>(`/months/${month}/channels`)
  const columns = useColumns()
  return (
    <Page
      title={t('title')}
      hint={t('hint')}
      actions={
        <Select
          aria-label={t('month')}
          data={months}
          value={month}
          allowDeselect={false}
          onChange={(value) => setMonth(value ?? undefined)}
        />
      }
    >
      <Steps key={month} month={month} />
      <DataTable
        label={t('channels', { month })}
        columns={columns}
        {...tableProps(list)}
        rowKey={({ channel }) => channel}
        opened={opened}
        onOpen={({ channel }) => setOpened(channel)}
        empty={<Text c="dimmed">{t('empty')}</Text>}
      />
      <ChannelDrawer
        month={month}
        channel={opened}
        onClose={() => setOpened(undefined)}
        onChanged={() => list.refetch()}
      />
    </Page>
  )
}

function useColumns(): Column<ChannelMonthView>[] {
  const t = useMessages(messages)
  const { currency } = useSession()
  const money = (title: string, of: (row: ChannelMonthView) => string | null) => ({
    ...{ title: withUnit(title, currency), width: '140px', align: 'right' as const },
    cell: (row: ChannelMonthView) => <Money amount={of(row)} currency={currency} isBare />,
  })
  return [
    { title: t('channel'), cell: ({ channel }) => channel },
    {
      title: t('state'),
      width: '100px',
      cell: ({ state }) => <State state={state} label={t(state)} />,
    },
    money(t('invoice'), ({ invoice }) => invoice),
    money(t('ours'), ({ ours }) => ours),
    money(t('difference'), ({ difference }) => difference),
    numberColumn(t('unexplained'), '140px', ({ unexplained_lines }) => unexplained_lines),
    numberColumn(t('missing'), '140px', ({ missing_days }) => missing_days.length),
  ]
}
