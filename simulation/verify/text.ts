// Verifies text calls against the upstream log: one charge at most, none for a refused call, the exact one for
// an answered call, and a loss for work that was done and not delivered for lack of money.
import type { LossReason } from '../../src/contract/ledger.ts'
import { countTokens } from '../../src/lib/text/count-tokens.ts'
import type { Calling } from '../callers/calling.ts'
import type { Answer, Input } from '../callers/records.ts'
import { textInputTokens } from '../callers/text-caller.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { textCosts } from '../world/prices.ts'
import { models } from '../world/settings.ts'
import { shown } from './check-commit.ts'

/** A charge that was neither voided nor written as free for lack of a reply. */
interface ChargeRow {
  ref: string
  amount_nanos: bigint
  price_id: string
  estimated: number
  price_of_request: string
  input_tokens: number
  output_tokens: number
  detail: string
}

export function verifyText(calling: Calling, upstream: Upstream): void {
  const { context, records } = calling
  const { world, db } = context
  const charges = new Map<string, ChargeRow>()
  const { rows } = db.query<ChargeRow>(
    `SELECT e.ref, e.amount_nanos, e.price_id, e.estimated, r.price_id AS price_of_request,
       r.input_tokens, r.output_tokens, r.detail
     FROM ledger e JOIN requests r ON r.request_id = e.ref
     LEFT JOIN entries b ON b.ref = e.ref AND b.kind = 'credit'
     WHERE e.kind = 'charge' AND b.id IS NULL AND NOT (e.amount_nanos = 0 AND r.status = 503)`,
  )
  for (const row of rows) charges.set(row.ref, row)
  for (const input of records.inputs) {
    if (input.kind !== 'text') continue
    const paid = input.requestIds.filter((id) => charges.has(id))
    if (paid.length > 1) world.addViolation(`text ${input.number} is charged as ${paid.join(', ')}`)
    for (const id of paid) verifyCharge(calling, upstream, input, charges.get(id)!)
    for (const answer of input.answers) verifyAnswer(calling, answer, charges)
  }
  verifyWithheld(calling, upstream)
}

/** An account that was short before gets no other reply beyond its balance, and does not pay for it. */
function verifyWithheld({ context, records }: Calling, upstream: Upstream): void {
  const { rows } = context.db.query<{ request_id: string; price_id: string; detail: string }>(
    `SELECT request_id, price_id, detail FROM requests
     WHERE error_code = 'insufficient_quota' AND channel IS NOT NULL AND model = ?`,
    [models.text],
  )
  for (const { request_id, price_id, detail } of rows) {
    const price = records.prices.get(price_id)
    const input = records.inputs.find(({ requestIds }) => requestIds.includes(request_id))
    const costs = worksFor(upstream, input?.prompt).map(
      ({ inputTokens, quantity }) => price && textCosts(price, inputTokens, quantity ?? 0),
    )
    const lost = lostOf(detail, 'not_delivered')
    if (!costs.includes(lost)) {
      context.world.addViolation(`${request_id} was not delivered, its loss is ${lost} of ${costs}`)
    }
  }
}

const worksFor = (upstream: Upstream, wanted: string | undefined) =>
  [...upstream.works.values()].filter(
    ({ kind, prompt, reported }) =>
      kind === 'text' && prompt === wanted && reported.includes('succeeded'),
  )

function verifyAnswer(
  { context }: Calling,
  answer: Answer,
  charges: ReadonlyMap<string, ChargeRow>,
): void {
  const isCharged = charges.has(answer.requestId)
  if (answer.kind === 'text' && !isCharged) {
    context.world.addViolation(`${answer.requestId} was answered and is not charged`)
  }
  // When the store committed a charge and reported a failure, the caller was refused, and the charge is
  // voided, even if the gateway died meanwhile.
  if (answer.kind === 'refused' && isCharged) {
    context.world.addViolation(`${answer.requestId} was refused (${answer.code}) and is charged`)
  }
}

function verifyCharge(
  { context, records }: Calling,
  upstream: Upstream,
  input: Input,
  row: ChargeRow,
) {
  const { world } = context
  const price = records.prices.get(row.price_id)
  if (price === undefined || row.price_id !== row.price_of_request) {
    return world.addViolation(`${row.ref} is charged by a price that is not its own: ${shown(row)}`)
  }
  const works = worksFor(upstream, input.prompt)
  if (works.length === 0)
    return world.addViolation(`${row.ref} is charged and was done by no upstream`)
  const short = lostOf(row.detail, 'balance_short')
  // The maximum cost of a call is held, and only an evicted gateway can lose the hold.
  const isWithinHold = works.every(({ inputTokens }) => inputTokens <= textInputTokens)
  if (short > 0n && isWithinHold && !context.mayBeCutOff) {
    world.addViolation(`${row.ref} was not paid for by its hold`)
  }
  const charged = -row.amount_nanos + short
  const costs = works.map(
    ({ inputTokens, quantity }) => textCosts(price, inputTokens, quantity ?? 0)!,
  )
  const withheld = lostOf(row.detail, 'not_delivered')
  if (withheld > 0n && (row.estimated !== 1 || !costs.includes(charged + withheld))) {
    world.addViolation(`${row.ref} ended for want of money, and ${withheld} is not the rest of it`)
  }
  const right =
    row.estimated === 1
      ? row.input_tokens === textInputTokens && row.output_tokens <= maxOutput
        ? [textCosts(price, row.input_tokens, row.output_tokens)!]
        : []
      : costs
  if (!right.includes(charged)) {
    world.addViolation(
      `${row.ref} is charged ${charged}, it should be ${right.join(' or ')}: ${shown(row)}`,
    )
  }
}

function lostOf(detail: string, wanted: LossReason): bigint {
  const { loss = [] } = JSON.parse(detail) as { loss?: { reason: string; nanos: string }[] }
  return loss
    .filter(({ reason }) => reason === wanted)
    .reduce((sum, { nanos }) => sum + BigInt(nanos), 0n)
}

/** No reply of the simulated upstream is longer. */
const maxOutput = countTokens('x'.repeat(60))
