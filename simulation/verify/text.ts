// Calls of text against the truth: one charge at most, none for what was refused, the exact one for what
// was answered, and a loss for what was done and not delivered for want of money.
import type { LossReason } from '../../src/contract/ledger.ts'
import { countTokens } from '../../src/lib/text/count-tokens.ts'
import type { Calling } from '../callers/callers.ts'
import type { Answer, Input } from '../callers/records.ts'
import { textInputTokens } from '../callers/text-caller.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { textCosts } from '../world/prices.ts'
import { shown } from './check-commit.ts'

/** One that was not given back, nor written as free because nobody had an answer. */
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

export function judgeText(calling: Calling, upstream: Upstream): void {
  const { stage, books } = calling
  const { world, db } = stage
  const charges = new Map<string, ChargeRow>()
  const { rows } = db.query<ChargeRow>(
    `SELECT e.ref, e.amount_nanos, e.price_id, e.estimated, r.price_id AS price_of_request,
       r.input_tokens, r.output_tokens, r.detail
     FROM entries e JOIN requests r ON r.request_id = e.ref
     LEFT JOIN entries b ON b.ref = e.ref AND b.kind = 'credit' AND b.amount_nanos = -e.amount_nanos
     WHERE e.kind = 'charge' AND b.id IS NULL AND NOT (e.amount_nanos = 0 AND r.status = 503)`,
  )
  for (const row of rows) charges.set(row.ref, row)
  for (const input of books.inputs) {
    if (input.kind !== 'text') continue
    const paid = input.requestIds.filter((id) => charges.has(id))
    if (paid.length > 1) world.blame(`text ${input.number} is charged as ${paid.join(', ')}`)
    for (const id of paid) judgeCharge(calling, upstream, input, charges.get(id)!)
    for (const answer of input.answers) judgeAnswer(calling, answer, charges)
  }
  judgeWithheld(calling, upstream)
}

/** An account that was short before gets no other answer beyond its balance, and does not pay for it. */
function judgeWithheld({ stage, books }: Calling, upstream: Upstream): void {
  const { rows } = stage.db.query<{ request_id: string; price_id: string; detail: string }>(
    `SELECT request_id, price_id, detail FROM requests
     WHERE error_code = 'insufficient_quota' AND channel IS NOT NULL AND interface = 'chat'`,
  )
  for (const { request_id, price_id, detail } of rows) {
    const price = books.prices.get(price_id)
    const input = books.inputs.find(({ requestIds }) => requestIds.includes(request_id))
    const costs = worksFor(upstream, input?.prompt).map(
      ({ inputTokens, quantity }) => price && textCosts(price, inputTokens, quantity ?? 0),
    )
    const lost = lostOf(detail, 'not_delivered')
    if (!costs.includes(lost)) {
      stage.world.blame(`${request_id} was not delivered, its loss is ${lost} of ${costs}`)
    }
  }
}

const worksFor = (upstream: Upstream, wanted: string | undefined) =>
  [...upstream.works.values()].filter(
    ({ kind, prompt, told }) => kind === 'text' && prompt === wanted && told.includes('succeeded'),
  )

function judgeAnswer(
  { stage }: Calling,
  answer: Answer,
  charges: ReadonlyMap<string, ChargeRow>,
): void {
  const isCharged = charges.has(answer.requestId)
  if (answer.kind === 'text' && !isCharged) {
    stage.world.blame(`${answer.requestId} was answered and is not charged`)
  }
  // Where the store took the charge and said that it had not, the caller was refused all the same, and
  // it is given back, also by a gateway that has died over it.
  if (answer.kind === 'refused' && isCharged) {
    stage.world.blame(`${answer.requestId} was refused (${answer.code}) and is charged`)
  }
}

function judgeCharge({ stage, books }: Calling, upstream: Upstream, input: Input, row: ChargeRow) {
  const { world } = stage
  const price = books.prices.get(row.price_id)
  if (price === undefined || row.price_id !== row.price_of_request) {
    return world.blame(`${row.ref} is charged by a price that is not its own: ${shown(row)}`)
  }
  const works = worksFor(upstream, input.prompt)
  if (works.length === 0) return world.blame(`${row.ref} is charged and was done by no upstream`)
  const short = lostOf(row.detail, 'balance_short')
  // What a call may cost is set aside for it, and only a gateway that was given up can lose that.
  const isWithinHold = works.every(({ inputTokens }) => inputTokens <= textInputTokens)
  if (short > 0n && isWithinHold && !stage.mayBeCutOff) {
    world.blame(`${row.ref} was not paid for by its hold`)
  }
  const charged = -row.amount_nanos + short
  const costs = works.map(
    ({ inputTokens, quantity }) => textCosts(price, inputTokens, quantity ?? 0)!,
  )
  const withheld = lostOf(row.detail, 'not_delivered')
  if (withheld > 0n && (row.estimated !== 1 || !costs.includes(charged + withheld))) {
    world.blame(`${row.ref} ended for want of money, and ${withheld} is not the rest of it`)
  }
  const right =
    row.estimated === 1
      ? row.input_tokens === textInputTokens && row.output_tokens <= maxOutput
        ? [textCosts(price, row.input_tokens, row.output_tokens)!]
        : []
      : costs
  if (!right.includes(charged)) {
    world.blame(
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

/** No answer of the simulated upstream is longer. */
const maxOutput = countTokens('x'.repeat(60))
