// By whom and with what: the accounts, models and channels with the largest charges, each with its change
// against the time before.
import { Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useDisplayNames } from '../../components/billing/account-name.tsx'
import { ChannelHealth } from '../../components/channels/channel-health.tsx'
import { Panel } from '../../components/page.tsx'
import { Money, tabularNumbers } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { privateClass } from '../../lib/privacy.ts'
import { Link } from '../../lib/router.tsx'
import { hasRole, useSession } from '../../lib/session.ts'
import { useChannels } from './channel-list.ts'
import { useBusiness } from './charges.ts'
import { channelRows, type TopRow, topRows, unusual } from './figures.ts'
import { requestsAt } from './links.ts'
import { messages } from './messages.ts'
import type { Chosen } from './period.ts'
import { useTrafficIn } from './traffic.ts'

const maxRows = 7

export function TopAccounts({ chosen }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const { now, before } = useBusiness(chosen, 'account')
  const displayName = useDisplayNames()
  const rows = topRows(now?.items ?? [], before?.items, ({ account }) => account, maxRows)
  return (
    <TopTable
      title={t('top_accounts')}
      rows={rows}
      last={t('margin')}
      cell={(row) => <MarginShare row={row} />}
      name={({ name }) => (
        <Text size="sm" truncate className={privateClass}>
          <Link to={`/accounts?open=${encodeURIComponent(name)}`} title={name}>
            {displayName(name) ?? name}
          </Link>
        </Text>
      )}
    />
  )
}

export function TopModels({ chosen }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const { now, before } = useBusiness(chosen, 'model')
  const rows = topRows(now?.items ?? [], before?.items, ({ model }) => model, maxRows)
  return (
    <TopTable
      title={t('models')}
      rows={rows}
      last={t('margin')}
      cell={(row) => <MarginShare row={row} />}
      name={({ name }) => <NameLink {...{ chosen, name, filter: 'model' }} />}
    />
  )
}

/** By requests: charges of tasks are not told apart by channel. With how many succeeded, and the word of health where one may know it. */
export function TopChannels({ chosen }: { chosen: Chosen }) {
  const t = useMessages(messages)
  const format = useFormat()
  const mayOpen = hasRole(useSession(), ['operator'])
  const channels = useChannels(mayOpen).data?.items
  const now = useTrafficIn(chosen.period, 'channel,status').data?.items
  const before = useTrafficIn(chosen.before, 'channel,status', now !== undefined).data?.items
  const names = channels?.map(({ name }) => name) ?? []
  const rows = channelRows(now ?? [], before, names, Math.max(maxRows, 12))
  const health = (name: string) => channels?.find((each) => each.name === name)
  return (
    <TopTable
      title={t('channels')}
      rows={rows}
      what={t('requests')}
      last={t('success')}
      cell={({ success }) => (success === undefined ? '–' : format.percent(success))}
      name={({ name }) => {
        const channel = health(name)
        return (
          <>
            <NameLink {...{ chosen, name, filter: 'channel' }} />
            {channel !== undefined && (
              <Link to={`/channels?open=${channel.id}`} className="health-link">
                <ChannelHealth channel={channel} />
              </Link>
            )}
          </>
        )
      }}
    />
  )
}

const NameLink = ({
  chosen,
  name,
  filter,
}: {
  chosen: Chosen
  name: string
  filter: 'model' | 'channel'
}) => (
  <Text size="sm" truncate>
    <Link to={requestsAt(chosen.period, `&${filter}=${encodeURIComponent(name)}`)} title={name}>
      {name}
    </Link>
  </Text>
)

function TopTable({
  title,
  rows,
  name,
  what,
  last,
  cell,
}: {
  title: string
  rows: readonly TopRow[]
  /** What they are compared by; charges if left out. */
  what?: string
  name: (row: TopRow) => ReactNode
  last: string
  cell: (row: TopRow) => ReactNode
}) {
  const t = useMessages(messages)
  const { currency } = useSession()
  return (
    <Panel title={title}>
      {rows.length === 0 ? (
        <Text c="dimmed">{t('nothing_charged')}</Text>
      ) : (
        <Table aria-label={title} className="top-table" verticalSpacing={6} horizontalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('name')}</Table.Th>
              <Table.Th scope="col">{what ?? `${t('spend')}, ${currency}`}</Table.Th>
              <Table.Th scope="col">{t('change')}</Table.Th>
              <Table.Th scope="col">{last}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.name}>
                <Table.Td>{name(row)}</Table.Td>
                <Table.Td style={tabularNumbers}>
                  <Size row={row} />
                </Table.Td>
                <Table.Td style={tabularNumbers}>
                  <ChangeText row={row} />
                </Table.Td>
                <Table.Td style={tabularNumbers}>{cell(row)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Panel>
  )
}

function Size({ row: { amount, requests } }: { row: TopRow }) {
  const format = useFormat()
  const { currency } = useSession()
  if (requests === undefined) return <Money amount={amount} currency={currency} isBare />
  return <span className={requests === 0 ? 'zero' : undefined}>{format.number(requests)}</span>
}

function ChangeText({ row: { times } }: { row: TopRow }) {
  const t = useMessages(messages)
  const format = useFormat()
  if (times === undefined) return <span className="zero">–</span>
  if (times === Number.POSITIVE_INFINITY) return t('new')
  if (times >= unusual) {
    return (
      <Text span inherit c="orange" fw={500} title={t('unusual')}>
        {format.number(Math.round(times))} ×
      </Text>
    )
  }
  const by = times - 1
  return (
    <Text span inherit c="dimmed">
      {by < 0 ? '−' : '+'}
      {format.percent(Math.abs(by))}
    </Text>
  )
}

/** Without a known cost there is no margin; with some of it, there is at most so much. */
function MarginShare({ row: { margin } }: { row: TopRow }) {
  const t = useMessages(messages)
  const format = useFormat()
  if (margin?.share === undefined) {
    return (
      <span className="zero" title={t('margin_unknown')}>
        –
      </span>
    )
  }
  const share = format.percent(margin.share)
  return margin.isAtMost ? <span title={t('margin_at_most')}>≤ {share}</span> : share
}
