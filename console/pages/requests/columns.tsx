// The columns of the request log; those that matter most come first, as the last ones make room on a
// narrower screen.
import { CopyIcon, CopyId } from '../../components/copy.tsx'
import { type Column, column, numberColumn, withUnit } from '../../components/table/data-table.tsx'
import { HttpStatus, Money, None, Time } from '../../components/values.tsx'
import { useFormat } from '../../lib/format.ts'
import { useMessages } from '../../lib/messages.ts'
import { type LoggedRequest, tokensPerSecond } from '../../lib/resources/request.ts'
import { tagsText } from '../../lib/resources/tags.ts'
import { useServerText } from '../../lib/server/use-server-text.ts'
import { isStaff, useSession } from '../../lib/session.ts'
import { messages } from './messages.ts'

const modelsText = ({ model, upstream_model }: LoggedRequest): string =>
  upstream_model == null || upstream_model === model ? model : `${model} → ${upstream_model}`

const callerText = ({ account, token }: LoggedRequest): string =>
  `${account ?? ''} / ${token ?? ''}`

const inputOf = ({ usage }: LoggedRequest): number | undefined =>
  usage !== null && 'input_tokens' in usage ? usage.input_tokens : undefined

export function useColumns(): Column<LoggedRequest>[] {
  const t = useMessages(messages)
  const { currency } = useSession()
  return [
    column(t('time'), '165px', (row) => <TimeCell row={row} />, {
      id: 'time',
      sort: ({ at }) => at,
    }),
    column(t('status'), '70px', ({ status }) => <HttpStatus status={status} />, {
      id: 'status',
      sort: ({ status }) => status,
    }),
    column(t('model'), '135px', modelsText, { id: 'model', sort: modelsText }),
    column(t('token'), '200px', callerText, { id: 'token', sort: callerText }),
    ...useChannelColumn(),
    column(t('error'), '145px', (row) => <ErrorCell row={row} />, {
      ...{ id: 'error', isMinor: true },
      sort: ({ error_code }) => error_code,
    }),
    numberColumn(
      withUnit(t('cost'), currency),
      '100px',
      ({ charge }) => <Money amount={charge} currency={currency} how="cost" isBare />,
      { id: 'cost', sort: ({ charge }) => charge },
    ),
    ...useFigureColumns(),
    column(t('interface'), '105px', (row) => row.interface, {
      ...{ id: 'interface', isMinor: true },
      sort: (row) => row.interface,
    }),
    ...useRareColumns(),
  ]
}

function useChannelColumn(): Column<LoggedRequest>[] {
  const t = useMessages(messages)
  if (!isStaff(useSession())) return []
  const shown = ({ channel }: LoggedRequest) => channel ?? '–'
  return [
    column(t('channel'), '115px', shown, {
      ...{ id: 'channel', isMinor: true, sort: ({ channel }) => channel },
    }),
  ]
}

function useFigureColumns(): Column<LoggedRequest>[] {
  const t = useMessages(messages)
  const format = useFormat()
  const tokens = ({ usage }: LoggedRequest) =>
    usage?.input_tokens === undefined
      ? '–'
      : `${format.compact(usage.input_tokens)} / ${format.compact(usage.output_tokens ?? 0)}`
  const cached = ({ usage }: LoggedRequest) =>
    usage !== null && 'input_tokens' in usage ? format.number(usage.cache_read_tokens) : '–'
  const rate = (row: LoggedRequest) => format.number(tokensPerSecond(row))
  return [
    numberColumn(t('total'), '82px', ({ total_ms }) => format.ms(total_ms), {
      id: 'total',
      sort: ({ total_ms }) => total_ms,
    }),
    numberColumn(t('tokens'), '100px', tokens, { id: 'tokens', isMinor: true, sort: inputOf }),
    numberColumn(t('first_byte'), '80px', ({ first_byte_ms }) => format.ms(first_byte_ms), {
      ...{ id: 'first_byte', isMinor: true },
      sort: ({ first_byte_ms }) => first_byte_ms,
    }),
    numberColumn(t('cache_read_tokens'), '90px', cached, { id: 'cached', isOptional: true }),
    numberColumn(t('rate'), '90px', rate, {
      ...{ id: 'rate', isOptional: true, sort: tokensPerSecond },
    }),
  ]
}

/** For those who choose them. */
function useRareColumns(): Column<LoggedRequest>[] {
  const t = useMessages(messages)
  return [
    column(t('finish_reason'), '120px', ({ finish_reason }) => finish_reason ?? '–', {
      ...{ id: 'finish_reason', isOptional: true, sort: ({ finish_reason }) => finish_reason },
    }),
    column(t('stream'), '80px', ({ stream }) => t(stream ? 'yes' : 'no'), {
      id: 'stream',
      isOptional: true,
    }),
    column(t('tags'), '160px', ({ tags }) => tagsText(tags), {
      ...{ id: 'tags', isPrivate: true, isOptional: true },
    }),
    column(t('request_id'), '240px', ({ request_id }) => <CopyId id={request_id} />, {
      ...{ id: 'request_id', isOptional: true },
    }),
  ]
}

/** With the ID at hand: the column of IDs is for those who choose it. */
function TimeCell({ row: { at, request_id } }: { row: LoggedRequest }) {
  const t = useMessages(messages)
  return (
    <span title={request_id}>
      <Time at={at} how="short" /> <CopyIcon text={request_id} label={t('copy_id')} />
    </span>
  )
}

/** The code in words; the gateway's own text on hover. */
function ErrorCell({ row: { error_code, error } }: { row: LoggedRequest }) {
  const server = useServerText()
  if (error_code === null) return <None />
  return (
    <span title={[error_code, error ?? ''].join('\n').trim()}>
      {server.text('error', error_code)}
    </span>
  )
}
