// Verifies every task against the upstream log: whether the upstream reported its end, what it should have
// cost, whether it was sent more than once, and whether its key created only one.
import type { LossReason } from '../../src/contract/ledger.ts'
import type { Price } from '../../src/contract/price.ts'
import type { TokenCounts } from '../../src/contract/usage.ts'
import { withheld } from '../../src/engine/tasks/end-task.ts'
import { isBackground } from '../callers/background.ts'
import { linePrompt } from '../callers/batches.ts'
import type { Calling } from '../callers/calling.ts'
import type { Input } from '../callers/records.ts'
import type { Upstream, Work } from '../upstream/upstream.ts'
import { costsOf, imagesCost, textCosts, tokensCost, videoCosts } from '../world/prices.ts'
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
  model: string
  channel: string
  cost_nanos: bigint | null
}

export const taskRows = ({ context }: Calling): TaskRow[] =>
  context.db.query<TaskRow>(
    `SELECT t.*, c.amount_nanos AS charged_nanos, c.price_id AS charged_price,
       c.quantity AS charged_quantity
     FROM tasks t LEFT JOIN entries c ON c.ref = t.id AND c.kind = 'charge'`,
  ).rows

/** Made by a text call of the gateway. */
const isOwnCall = ({ kind }: Input): boolean => kind === 'text' || kind === 'ownResponse'

export const promptIn = ({ body }: TaskRow): string =>
  (JSON.parse(body) as { request: { prompt: string } }).request.prompt

export function verifyTasks(calling: Calling, upstream: Upstream): void {
  const { context, records } = calling
  const { world } = context
  const rows = taskRows(calling)
  const inputs = new Map<string, Input>()
  for (const input of records.inputs) for (const id of input.requestIds) inputs.set(id, input)
  const perPrompt = new Map<string, number>()
  for (const row of rows) {
    const prompt = promptIn(row)
    perPrompt.set(prompt, (perPrompt.get(prompt) ?? 0) + 1)
    const input = inputs.get(row.request_id)
    if (input === undefined)
      world.addViolation(`task ${row.id} belongs to a request that no caller made`)
    else verifyEnd(calling, upstream, row, input)
  }
  for (const [name, count] of upstream.arrivals) {
    const isMarker = name.startsWith('marker ')
    const prompt = name.slice('prompt '.length)
    // Such a call may go to several channels.
    const isCall = records.inputs.some((input) => isOwnCall(input) && input.prompt === prompt)
    const isLine = prompt.startsWith(linePrompt)
    if (isMarker ? count > 1 : !isCall && !isLine && count > (perPrompt.get(prompt) ?? 0)) {
      world.addViolation(
        `${name} was sent ${count} times, there are ${perPrompt.get(prompt) ?? 0} tasks`,
      )
    }
  }
  for (const input of records.inputs) verifyKey(calling, upstream, input, rows)
}

function verifyEnd(calling: Calling, upstream: Upstream, row: TaskRow, input: Input): void {
  const { world } = calling.context
  const work = workOf(upstream, row, input)
  const isCharged = row.charged_nanos !== null
  if (isCharged !== (row.state === 'succeeded')) {
    world.addViolation(`task ${row.id} is ${row.state} and ${isCharged ? '' : 'not '}charged`)
  }
  const seen = calling.records.seenEnds.get(row.id)
  if (seen !== undefined && seen !== row.state) {
    world.addViolation(`task ${row.id} was shown as ${seen} and is ${row.state}`)
  }
  verifyCost(calling, row, input, work)
  if (row.state === 'succeeded') verifyCharge(calling, row, input, work)
  else if (isWithheld(row)) verifyWithheld(calling, row, work)
  else if (work !== undefined && mustSucceed(calling, work, row)) {
    const { id, fate, reported, endsMs, createdMs } = work
    const truth = shown({ id, fate, reported, tookMs: Math.round(endsMs - createdMs) })
    world.addViolation(
      `task ${row.id} is ${row.state}, but its upstream has done it: ${truth} ${row.body}`,
    )
  }
}

/** Not one that was refused before it was sent. */
const isWithheld = ({ body }: TaskRow): boolean =>
  (JSON.parse(body) as { error?: { message: string } }).error?.message === withheld.error.message

/** Done and not delivered for lack of money: its account was short before, and pays nothing. */
function verifyWithheld({ context, records }: Calling, row: TaskRow, work: Work | undefined): void {
  const price = records.prices.get(row.price_id)
  const cost =
    price &&
    (row.interface === 'responses'
      ? responseCosts(price, row, work)
      : tokensCost(price, work?.quantity ?? 0))
  const lost = lossOf(context, row.id, 'not_delivered')
  const isDone = work?.reported.includes('succeeded') === true
  if (isDone && lost === cost && row.charge_nanos === 0n && lost > row.hold_nanos) return
  context.world.addViolation(`task ${row.id} was not delivered, its loss is ${lost} of ${cost}`)
}

function workOf(upstream: Upstream, row: TaskRow, input: Input): Work | undefined {
  if (row.upstream_id !== null) return upstream.works.get(row.upstream_id)
  if (input.kind !== 'ownResponse') return workAtOnce(upstream, row, input)
  // It may be lost between the upstream and its task.
  if (row.state !== 'succeeded' && !isWithheld(row)) return undefined
  const served = [...upstream.works.values()].filter(
    ({ prompt, channel, reported }) =>
      prompt === input.prompt && channel === row.channel && reported.includes('succeeded'),
  )
  return served.find(({ isTold }) => isTold) ?? served[0]
}

/** Tokens as they were charged, of a response. */
const usageIn = ({ body }: TaskRow): TokenCounts | undefined =>
  (JSON.parse(body) as { usage?: { tokens?: TokenCounts } }).usage?.tokens

/** Synchronous images have no id: finds one with the usage that was charged. */
function workAtOnce(upstream: Upstream, row: TaskRow, input: Input): Work | undefined {
  if (row.state !== 'succeeded') return undefined
  const likely = [...upstream.works.values()].filter(
    ({ protocol, prompt, requested, fate }) =>
      protocol === 'images' &&
      prompt === input.prompt &&
      requested === input.count &&
      fate === 'succeeded',
  )
  return likely.find(({ quantity }) => quantity === row.charged_quantity) ?? likely[0]
}

/** Of a task whose end is polled for certain before it is abandoned. */
const maxMs = lifetimeMs / 2
const minCalmMs = 30_000

/** Done in time, reported consistently, not cancelled, and visible to its caller. */
function mustSucceed({ context }: Calling, work: Work, row: TaskRow): boolean {
  // During faults every poll of a task may be lost.
  const calmMs = work.createdMs + lifetimeMs - context.calmSinceMs
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

function verifyCharge(calling: Calling, row: TaskRow, input: Input, work: Work | undefined): void {
  const { context, records } = calling
  const { world } = context
  const price = records.prices.get(row.price_id)
  if (work === undefined || price === undefined) {
    world.addViolation(`task ${row.id} succeeded at no upstream, or at a price that does not exist`)
    return
  }
  if (!work.reported.includes('succeeded')) {
    world.addViolation(`task ${row.id} succeeded, but its upstream never said so: ${shown(work)}`)
  }
  if (price.effectiveFromMs > row.created_at_ms) {
    world.addViolation(`task ${row.id} has a price that was not in force when it was made`)
  }
  if (row.charged_price !== row.price_id)
    world.addViolation(`task ${row.id} is charged by another price`)
  const right = expected(calling, row, input, work)
  const charged = -(row.charged_nanos ?? 0n)
  if (!right.includes(charged)) {
    world.addViolation(
      `task ${row.id} is charged ${charged}, by the truth it is ${right.join(' or ')}: ` +
        `${shown({ ...work, reported: undefined })} ${shown({ price, input: input.number })}`,
    )
  }
}

/**
 * What was charged for, at the cost of its channel; of one that was withheld, what would have been; of one that
 * its upstream finished after it was given up, what its losses say.
 */
function verifyCost(calling: Calling, row: TaskRow, input: Input, work: Work | undefined): void {
  const { context } = calling
  const isPaid = row.state === 'succeeded' || isWithheld(row)
  const late = isPaid ? [] : lateWorks(calling, row.id)
  const costsOfLate = (works: readonly LateWork[]) =>
    works.length === 0
      ? [0n]
      : sums(works.map(({ quantity }) => costsFor(calling, row, input, work, quantity)))
  const right: (bigint | null)[] = isPaid
    ? costsFor(calling, row, input, work, row.charged_quantity ?? work?.quantity ?? 0)
    : [...costsOfLate(late), ...costsOfLate(late.filter(({ isSure }) => isSure))]
  if (right.includes(row.cost_nanos)) return
  context.world.addViolation(
    `task ${row.id} (${row.state}) costs ${row.cost_nanos}, it should be ${right.join(' or ')}`,
  )
}

/** By each version that may apply; null: not known. */
function costsFor(
  { records }: Calling,
  row: TaskRow,
  input: Input,
  work: Work | undefined,
  quantity: number,
): (bigint | null)[] {
  const amount = (cost: Price) =>
    isBackground(input)
      ? responseCosts(cost, row, work)
      : input.kind === 'video'
        ? videoCosts(cost, input.resolution, quantity)
        : input.kind === 'tokenVideo'
          ? tokensCost(cost, quantity)
          : imagesCost(cost, quantity)
  const books = { prices: records.prices.values(), costs: records.costs }
  const costs = costsOf(books, row.channel, row.model, row.created_at_ms, amount)
  return costs.length > 0 ? costs : [null]
}

/** Works that their upstream finished after they were given up. */
const lateReasons = ['unknown_create', 'late_success']
/** The same, or works that were not delivered, whose cost is not told. */
const mayBeLate = ['caller_left', 'not_delivered']

interface LateWork {
  quantity: number
  isSure: boolean
}

const lateWorks = ({ context }: Calling, taskId: string): LateWork[] =>
  context.db
    .query<{ reason: string; quantity: number }>(
      "SELECT reason, quantity FROM losses WHERE ref = ? AND upstream_id <> ''",
      [taskId],
    )
    .rows.filter(({ reason }) => [...lateReasons, ...mayBeLate].includes(reason))
    .map(({ reason, quantity }) => ({
      quantity: Number(quantity),
      isSure: lateReasons.includes(reason),
    }))

/** Of several works of a task, all by one version. */
const sums = (lists: readonly (readonly (bigint | null)[])[]): (bigint | null)[] =>
  lists[0]!.map((_, version) =>
    lists.reduce<bigint | null>((sum, list) => {
      const cost = list[version] ?? null
      return sum === null || cost === null ? null : sum + cost
    }, 0n),
  )

const responseCosts = (cost: Price, row: TaskRow, work: Work | undefined): bigint | undefined => {
  const { inputTokens, outputTokens } = responseTokens(row, work)
  return textCosts(cost, inputTokens, outputTokens)
}

/** As reported; as counted where nothing was. */
function responseTokens(row: TaskRow, work: Work | undefined) {
  if (work?.quantity === undefined) return usageIn(row) ?? { inputTokens: 0, outputTokens: 0 }
  return { inputTokens: work.inputTokens, outputTokens: work.quantity }
}

function expected({ context, records }: Calling, row: TaskRow, input: Input, work: Work): bigint[] {
  const price = records.prices.get(row.price_id)!
  const { quantity } = work
  if (isBackground(input)) {
    const { inputTokens, outputTokens } = responseTokens(row, work)
    const losses = (['balance_short', 'implausible_usage'] as const).map((reason) =>
      lossOf(context, row.id, reason),
    )
    return [textCosts(price, inputTokens, outputTokens)! - losses[0]! - losses[1]!]
  }
  if (input.kind === 'video') {
    const seconds = Math.min(quantity ?? input.seconds, input.seconds)
    return [videoCosts(price, input.resolution, seconds)!]
  }
  if (input.kind === 'tokenVideo') {
    // Missing usage is estimated; the estimate is below the hold, which has a margin.
    if (quantity === undefined) return within(row)
    // The part beyond the hold comes from the balance; the rest is a loss.
    return [tokensCost(price, quantity)! - lossOf(context, row.id, 'balance_short')]
  }
  const reported = Math.min(quantity ?? 0, input.count)
  const counts = [reported, ...(records.fetched.get(row.id) ?? [])]
  return counts.map((count) => imagesCost(price, count)!)
}

const lossOf = ({ db }: Calling['context'], taskId: string, reason: LossReason): bigint =>
  db
    .query<{ amount_nanos: bigint }>(
      'SELECT amount_nanos FROM losses WHERE ref = ? AND reason = ?',
      [taskId, reason],
    )
    .rows.reduce((sum, { amount_nanos }) => sum + amount_nanos, 0n)

const within = ({ charge_nanos, hold_nanos }: TaskRow): bigint[] =>
  charge_nanos > 0n && charge_nanos <= hold_nanos ? [charge_nanos] : []

/** One key is one task, except refused ones that never existed.  */
function verifyKey(
  { context, records }: Calling,
  upstream: Upstream,
  input: Input,
  rows: readonly TaskRow[],
): void {
  const { world } = context
  if (input.key === undefined || input.kind === 'text') return
  const made = rows.filter(({ request_id }) => input.requestIds.includes(request_id))
  const real = made.filter(({ state, upstream_id }) => state !== 'failed' || upstream_id !== null)
  if (real.length > 1)
    world.addViolation(`${input.key} has made ${real.map(({ id }) => id).join(', ')}`)
  const isAlone = !records.inputs.some((other) => other !== input && other.prompt === input.prompt)
  const works = [...upstream.works.values()].filter(
    ({ prompt, isExtra }) => isAlone && !isOwnCall(input) && prompt === input.prompt && !isExtra,
  )
  // A reply with an error ends the attempt: the next one is new.
  const begun = works.filter(({ protocol, fate }) => protocol !== 'images' || fate === 'succeeded')
  if (begun.length > 1) {
    world.addViolation(`${input.key} was made upstream as ${begun.map(({ id }) => id).join(', ')}`)
  }
  const reported = new Set(
    input.answers.flatMap((answer) => (answer.kind === 'task' ? [answer.taskId] : [])),
  )
  if (reported.size > 1)
    world.addViolation(`${input.key} was answered with ${[...reported].join(', ')}`)
}
