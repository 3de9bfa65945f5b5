// Months against what upstreams bill: each channel with its difference and what explains it, its lines, the file
// for a dispute, and closing it.
import { createHash } from 'node:crypto'
import {
  type ChannelClosing,
  closeChannelMonth,
} from '../../billing/reconciliation/close-channel-month.ts'
import { refsOfDays } from '../../billing/reconciliation/day-refs.ts'
import { unexplainedReasons } from '../../billing/reconciliation/month-of-channel.ts'
import { Refusal, refuse } from '../../contract/errors.ts'
import { billDeps } from '../../engine/books/bill-deps.ts'
import type { Engine } from '../../engine/engine.ts'
import type { PageQuery } from '../../store/index.ts'
import { findChannelMonth } from '../../store/ledger/channel-months.ts'
import { listMonthLines, type MonthLine } from '../../store/ledger/month-lines.ts'
import type { LineReason } from '../../store/ledger/statements.ts'
import { BadCursor, pageOf, textCursor } from '../../store/sql/cursor.ts'
import { auditChange, listOf, notFound, pageOfList, time, wrong } from '../answers.ts'
import { monthIn } from '../money/bills.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { checklistOf } from './checklist.ts'
import {
  channelMonth,
  channelMonthList,
  channelMonthQuery,
  closeChannelRequest,
  disputeQuery,
  monthChecklist,
  monthLineList,
  monthLineQuery,
} from './month-schema.ts'
import { channelsOf, closingIn, countedLines, lineView, viewChannelMonth } from './month-view.ts'

async function listChannels({ engine, id, query, page }: Ask<{ query: typeof channelMonthQuery }>) {
  const month = monthIn(engine, id)
  if (month instanceof Refusal) return month
  const { channel } = query
  const names = await channelsOf(engine, month)
  const wanted = channel === undefined ? names : names.filter((name) => name === channel)
  const found = pageOfList(wanted, (name) => name, page)
  const items = []
  for (const name of found.items) items.push(await viewChannelMonth(engine, name, month))
  return { items, next_cursor: found.nextCursor ?? null }
}

interface LinesAsked {
  channel: string
  reasons?: readonly LineReason[] | undefined
  isLate?: boolean
  /** With all work behind lines that name none. */
  withRefs?: boolean
}

async function linesOf(engine: Engine, id: string, page: PageQuery, asked: LinesAsked) {
  const month = monthIn(engine, id)
  if (month instanceof Refusal) return month
  const channel = await channelNamed(engine, month, asked.channel)
  if (channel instanceof Refusal) return channel
  const { store, clock, declared } = engine
  const closed = await findChannelMonth(store.read, channel, month)
  const of = { channel, month, nowMs: clock.nowMs() }
  const { counted, late } = await countedLines(store.read, of, closed)
  const wanted = asked.isLate === true ? (late ?? { slices: [], near: [] }) : counted
  const filter = { reasons: asked.reasons, after: placeIn(page.cursor), limit: page.limit + 1 }
  const lines = await listMonthLines(store.read, wanted, filter)
  const bare = asked.withRefs === true ? lines.filter(needsRefs) : []
  const refs = new Map(
    (await refsOfDays(store, channel, bare)).map((some, at) => [bare[at]!, some] as const),
  )
  const { currency } = declared.file
  const found = pageOf(lines, page.limit, keyOf, (line) =>
    lineView(currency, line, refs.get(line) ?? []),
  )
  return listOf(found, (each) => each)
}

const needsRefs = ({ ref, upstreamId }: MonthLine): boolean => ref === null && upstreamId === null

const keyOf = ({ statementId, number }: MonthLine): string => `${statementId} ${number}`

function placeIn(cursor: string | undefined) {
  if (cursor === undefined) return undefined
  const [, statementId, number] = /^(stm_\w{1,64}) (\d{1,15})$/.exec(textCursor(cursor)) ?? []
  if (statementId === undefined) throw new BadCursor('unknown cursor')
  return { statementId, number: Number(number) }
}

/** A channel that there is, or that the month knows. */
async function channelNamed(engine: Engine, month: string, named: string) {
  const own = engine.catalog.channels.find(({ id, name }) => id === named || name === named)
  if (own !== undefined) return own.name
  const names = await channelsOf(engine, month)
  return names.includes(named) ? named : notFound('channel', named)
}

async function close({
  engine,
  id,
  body,
  header,
  x,
  viewer,
}: Ask<{ body: typeof closeChannelRequest }>) {
  const month = monthIn(engine, id)
  if (month instanceof Refusal) return month
  const channel = await channelNamed(engine, month, body.channel)
  if (channel instanceof Refusal) return channel
  const { note, reason } = body
  const key = header('idempotency-key')
  const requestKey = key === undefined ? undefined : hashOf([channel, month, key, note, reason])
  const { signer } = billDeps(engine)
  const { store, clock, declared } = engine
  const deps = { store, clock, signer, currency: declared.file.currency }
  const order = { channel, month, by: viewer?.actor ?? 'gateway', note, reason, requestKey }
  const done = await closeChannelMonth(deps, order, async (tx, closed) => {
    const { invoice, ours, difference, unexplained_lines, booked } = closed
    const after = {
      month,
      invoice,
      ours,
      difference,
      unexplained_lines,
      note,
      reason: booked.reason,
    }
    await auditChange(tx, x, { action: 'channel_month.close', subject: channel, after })
  })
  if (done.kind !== 'closed') return refusalOf(channel, month, done)
  return viewChannelMonth(engine, channel, month)
}

const hashOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')

function refusalOf(
  channel: string,
  month: string,
  done: Exclude<ChannelClosing, { kind: 'closed' }>,
) {
  switch (done.kind) {
    case 'too_early':
      return wrong('month', `is ${month}, which can be closed from ${time(done.fromMs)} on`)
    case 'closed_before': {
      const { by, at } = closingIn(done.closed).booked
      return refuse('conflict', `${month} of channel '${channel}' was closed by ${by} at ${at}`)
    }
    case 'needs_reason':
      return refuse(
        'conflict',
        `${month} of channel '${channel}' has ${done.lines} unexplained lines and ${done.days} days without ` +
          "a statement: say in 'reason' why it is closed all the same",
        { param: 'reason' },
      )
    case 'changing':
      return refuse('conflict', 'statements are being added or deleted; try again')
  }
}

const route = routesOf({
  tag: 'Months',
  thing: 'month',
  param: 'A month, such as `2026-10`.',
  permission: forFinance,
})

export const monthRoutes = [
  route('GET /months/:id', {
    id: 'getMonthChecklist',
    summary: 'What is left to do for a month',
    answer: monthChecklist,
    returns: 'The steps and how far each is.',
    handle: async ({ engine, id }) => {
      const month = monthIn(engine, id)
      return month instanceof Refusal ? month : checklistOf(engine, month)
    },
  }),
  route('GET /months/:id/channels', {
    id: 'listChannelMonths',
    summary:
      'For each channel: what was billed, what it should cost, the difference and what explains it',
    query: channelMonthQuery,
    defaultLimit: 100,
    answer: channelMonthList,
    handle: listChannels,
  }),
  route('GET /months/:id/lines', {
    id: 'listMonthLines',
    summary: 'The lines of a month of a channel, each with what explains it',
    query: monthLineQuery,
    answer: monthLineList,
    refusals: ['not_found'],
    handle: ({ engine, id, page, query }) => {
      const { channel, reason, unexplained, late } = query
      const reasons = unexplained ? unexplainedReasons : undefined
      const wanted = reason === undefined ? reasons : [reason]
      return linesOf(engine, id, page, { channel, reasons: wanted, isLate: late })
    },
  }),
  route('GET /months/:id/dispute', {
    id: 'getDispute',
    summary:
      'What to ask the upstream about: every line that is not explained, with our request ids',
    query: disputeQuery,
    answer: monthLineList,
    refusals: ['not_found'],
    handle: ({ engine, id, page, query: { channel } }) =>
      linesOf(engine, id, page, { channel, reasons: unexplainedReasons, withRefs: true }),
  }),
  route('POST /months/:id/close', {
    id: 'closeChannelMonth',
    summary: 'Close the month of a channel: book the difference and sign it for good',
    requestHeaders: {
      'Idempotency-Key': 'Repeats with the same key and body get the same answer.',
    },
    body: closeChannelRequest,
    examples: {
      explained: { channel: 'cloud-a', note: 'invoice 4711' },
      open: { channel: 'cloud-a', reason: 'below the limit for disputes' },
    },
    answer: channelMonth,
    returns: 'The closed month.',
    refusals: ['conflict', 'not_found'],
    handle: close,
  }),
]
