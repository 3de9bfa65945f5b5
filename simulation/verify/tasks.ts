// Every task against the truth: whether its end is one that its upstream spoke of, what it should have
// cost, whether it was sent more than once, and whether its key made only one.
import type { LossReason } from '../../src/contract/ledger.ts'
import type { Calling } from '../callers/callers.ts'
import type { Input } from '../callers/records.ts'
import type { Upstream, Work } from '../upstream/upstream.ts'
import { filmCosts, picturesCost, tokensCost } from '../world/prices.ts'
import { lifetimeMs } from '../world/settings.ts'
import { shown } from './check-commit.ts'

export interface TaskRow {
  id: string
  state: string
  upstream_id: string | null
  request_id: string
  account_id: string
  interface: string
  price_id: string
  hold_nanos: bigint
  charge_nanos: bigint
  created_at_ms: number
  body: string
  charged_nanos: bigint | null
  charged_price: string | null
  charged_quantity: number | null
}

export const taskRows = ({ stage }: Calling): TaskRow[] =>
  stage.db.query<TaskRow>(
    `SELECT t.*, c.amount_nanos AS charged_nanos, c.price_id AS charged_price,
       c.quantity AS charged_quantity
     FROM tasks t LEFT JOIN entries c ON c.ref = t.id AND c.kind = 'charge'`,
  ).rows

export const promptIn = ({ body }: TaskRow): string =>
  (JSON.parse(body) as { request: { prompt: string } }).request.prompt

export function judgeTasks(calling: Calling, upstream: Upstream): void {
  const { stage, books } = calling
  const { world } = stage
  const rows = taskRows(calling)
  const inputs = new Map<string, Input>()
  for (const input of books.inputs) for (const id of input.requestIds) inputs.set(id, input)
  const perPrompt = new Map<string, number>()
  for (const row of rows) {
    const prompt = promptIn(row)
    perPrompt.set(prompt, (perPrompt.get(prompt) ?? 0) + 1)
    const input = inputs.get(row.request_id)
    if (input === undefined) world.blame(`task ${row.id} goes by a request that nobody made`)
    else judgeEnd(calling, upstream, row, input)
  }
  for (const [name, count] of upstream.arrivals) {
    const isMarker = name.startsWith('marker ')
    const prompt = name.slice('prompt '.length)
    const isText = books.inputs.some((input) => input.kind === 'text' && input.prompt === prompt)
    if (isMarker ? count > 1 : !isText && count > (perPrompt.get(prompt) ?? 0)) {
      world.blame(`${name} was sent ${count} times, there are ${perPrompt.get(prompt) ?? 0} tasks`)
    }
  }
  for (const input of books.inputs) judgeKey(calling, upstream, input, rows)
}

function judgeEnd(calling: Calling, upstream: Upstream, row: TaskRow, input: Input): void {
  const { world } = calling.stage
  const work =
    row.upstream_id === null
      ? workAtOnce(upstream, row, input)
      : upstream.works.get(row.upstream_id)
  const isCharged = row.charged_nanos !== null
  if (isCharged !== (row.state === 'succeeded')) {
    world.blame(`task ${row.id} is ${row.state} and ${isCharged ? '' : 'not '}charged`)
  }
  const seen = calling.books.seenEnds.get(row.id)
  if (seen !== undefined && seen !== row.state) {
    world.blame(`task ${row.id} was shown as ${seen} and is ${row.state}`)
  }
  if (row.state === 'succeeded') judgeCharge(calling, row, input, work)
  else if (isWithheld(row)) judgeWithheld(calling, row, work)
  else if (work !== undefined && mustSucceed(calling, work, row)) {
    const { id, fate, told, endsMs, createdMs } = work
    const truth = shown({ id, fate, told, tookMs: Math.round(endsMs - createdMs) })
    world.blame(
      `task ${row.id} is ${row.state}, but its upstream has done it: ${truth} ${row.body}`,
    )
  }
}

const isWithheld = ({ body }: TaskRow): boolean =>
  (JSON.parse(body) as { error?: { code: string } }).error?.code === 'insufficient_quota'

/** Done, and not delivered for want of money: its account was short before, and bears none of it. */
function judgeWithheld({ stage, books }: Calling, row: TaskRow, work: Work | undefined): void {
  const price = books.prices.get(row.price_id)
  const cost = price && tokensCost(price, work?.quantity ?? 0)
  const lost = lossOf(stage, row.id, 'not_delivered')
  const isDone = work?.told.includes('succeeded') === true
  if (isDone && lost === cost && row.charge_nanos === 0n && lost > row.hold_nanos) return
  stage.world.blame(`task ${row.id} was not delivered, its loss is ${lost} of ${cost}`)
}

/** Of those that are answered with what was made nobody has an id: one that comes to what was charged. */
function workAtOnce(upstream: Upstream, row: TaskRow, input: Input): Work | undefined {
  if (row.state !== 'succeeded') return undefined
  const likely = [...upstream.works.values()].filter(
    ({ protocol, prompt, asked, fate }) =>
      protocol === 'images' &&
      prompt === input.prompt &&
      asked === input.count &&
      fate === 'succeeded',
  )
  return likely.find(({ quantity }) => quantity === row.charged_quantity) ?? likely[0]
}

/** Of a task that is sure to be seen to have ended before it is given up. */
const maxMs = lifetimeMs / 2
const minCalmMs = 30_000

/** Done well in time, never spoken of otherwise, called off by nobody, and visible to its caller. */
function mustSucceed({ stage }: Calling, work: Work, row: TaskRow): boolean {
  // In a time of faults everything may be lost for as long as a task lives.
  const calmMs = work.createdMs + lifetimeMs - stage.calmSinceMs
  if (calmMs < minCalmMs) return false
  const tookMs = work.endsMs - work.createdMs
  return (
    row.interface !== 'images' &&
    work.fate === 'succeeded' &&
    !work.contradicts &&
    work.cancelledMs === undefined &&
    tookMs < maxMs
  )
}

function judgeCharge(calling: Calling, row: TaskRow, input: Input, work: Work | undefined): void {
  const { stage, books } = calling
  const { world } = stage
  const price = books.prices.get(row.price_id)
  if (work === undefined || price === undefined) {
    world.blame(`task ${row.id} succeeded at no upstream, or at a price that nobody set`)
    return
  }
  if (!work.told.includes('succeeded')) {
    world.blame(`task ${row.id} succeeded, but its upstream never said so: ${shown(work)}`)
  }
  if (price.effectiveFromMs > row.created_at_ms) {
    world.blame(`task ${row.id} has a price that was not in force when it was made`)
  }
  if (row.charged_price !== row.price_id) world.blame(`task ${row.id} is charged by another price`)
  const right = expected(calling, row, input, work)
  const charged = -(row.charged_nanos ?? 0n)
  if (!right.includes(charged)) {
    world.blame(
      `task ${row.id} is charged ${charged}, by the truth it is ${right.join(' or ')}: ` +
        `${shown({ ...work, told: undefined })} ${shown({ price, input: input.number })}`,
    )
  }
}

function expected({ stage, books }: Calling, row: TaskRow, input: Input, work: Work): bigint[] {
  const price = books.prices.get(row.price_id)!
  const { quantity } = work
  if (input.kind === 'film') {
    const seconds = Math.min(quantity ?? input.seconds, input.seconds)
    return [filmCosts(price, input.resolution, seconds)!]
  }
  if (input.kind === 'tokenFilm') {
    // What was not told is reckoned; it is less than what was set aside, which has a margin.
    if (quantity === undefined) return within(row)
    // What passes the hold comes from the balance; what that does not cover is a loss.
    return [tokensCost(price, quantity)! - lossOf(stage, row.id, 'balance_short')]
  }
  const told = Math.min(quantity ?? 0, input.count)
  const counts = [told, ...(books.fetched.get(row.id) ?? [])]
  return counts.map((count) => picturesCost(price, count)!)
}

const lossOf = ({ db }: Calling['stage'], taskId: string, reason: LossReason): bigint =>
  db
    .query<{ amount_nanos: bigint }>(
      'SELECT amount_nanos FROM losses WHERE ref = ? AND reason = ?',
      [taskId, reason],
    )
    .rows.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n)

const within = ({ charge_nanos, hold_nanos }: TaskRow): bigint[] =>
  charge_nanos > 0n && charge_nanos <= hold_nanos ? [charge_nanos] : []

/** One key is one task, but for those that were turned away and never existed anywhere. */
function judgeKey(
  { stage, books }: Calling,
  upstream: Upstream,
  input: Input,
  rows: readonly TaskRow[],
): void {
  const { world } = stage
  if (input.key === undefined || input.kind === 'text') return
  const made = rows.filter(({ request_id }) => input.requestIds.includes(request_id))
  const real = made.filter(({ state, upstream_id }) => state !== 'failed' || upstream_id !== null)
  if (real.length > 1) world.blame(`${input.key} has made ${real.map(({ id }) => id).join(', ')}`)
  const isAlone = !books.inputs.some((other) => other !== input && other.prompt === input.prompt)
  const works = [...upstream.works.values()].filter(
    ({ prompt, isExtra }) => isAlone && prompt === input.prompt && !isExtra,
  )
  // What was answered with an error of its own is over: the next one is a new try.
  const begun = works.filter(({ protocol, fate }) => protocol !== 'images' || fate === 'succeeded')
  if (begun.length > 1) {
    world.blame(`${input.key} was made upstream as ${begun.map(({ id }) => id).join(', ')}`)
  }
  const told = new Set(
    input.answers.flatMap((answer) => (answer.kind === 'task' ? [answer.taskId] : [])),
  )
  if (told.size > 1) world.blame(`${input.key} was answered with ${[...told].join(', ')}`)
}
