// Verifies batches and calls that gateways make themselves: every line has one answer, in one of the two files, and
// one charge if that is a good one; no other call of a line is charged, and none of a background response.
import type { Calling } from '../callers/calling.ts'
import type { BatchInput } from '../callers/records.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { textCosts } from '../world/prices.ts'
import { partModels } from '../world/settings.ts'

interface BatchRow {
  id: string
  state: string
  total: number
  completed: number
  failed: number
  charge_nanos: bigint
}

interface CallRow {
  ref: string
  amount_nanos: bigint
  price_id: string
  estimated: number
  input_tokens: number
  output_tokens: number
  detail: string
}

/** A line of a result file. */
interface Line {
  custom_id: string
  response: { status_code: number; request_id: string } | null
  error: { code: string } | null
}

const live = ['validating', 'in_progress', 'finalizing', 'cancelling']

export const openBatches = ({ context }: Calling): string[] =>
  context.db
    .query<BatchRow>('SELECT id, state FROM batches')
    .rows.filter(({ state }) => live.includes(state))
    .map(({ id, state }) => `batch ${id} is ${state}`)

export function verifyBatches(calling: Calling, upstream: Upstream): void {
  const { context, records } = calling
  const { db, world } = context
  const charges = chargesOf(calling, partModels.line)
  const batches = new Map(
    db.query<BatchRow>('SELECT * FROM batches').rows.map((row) => [row.id, row] as const),
  )
  for (const input of records.batches) {
    const row = input.batchId === undefined ? undefined : batches.get(input.batchId)
    if (row === undefined) {
      if (input.batchId !== undefined) world.addViolation(`batch ${input.batchId} is not there`)
      continue
    }
    verifyFiles(calling, upstream, input, row, charges)
  }
  for (const ref of charges.keys()) world.addViolation(`${ref} is charged and is no line's answer`)
  verifySenders(calling, upstream)
  for (const model of [partModels.response, partModels.ownResponse]) {
    for (const ref of chargesOf(calling, model).keys()) {
      world.addViolation(`${ref} is charged beside the task that it was made for`)
    }
  }
}

/** A response that a gateway has sent is not sent by another. */
function verifySenders({ context, records }: Calling, upstream: Upstream): void {
  for (const { kind, prompt } of records.inputs) {
    if (kind !== 'ownResponse') continue
    const works = [...upstream.works.values()].filter((work) => work.prompt === prompt)
    const senders = new Set(works.map(({ from }) => from))
    if (senders.size > 1) context.world.addViolation(`${prompt} was sent by ${[...senders]}`)
  }
}

/** Of calls of a model, without those that were voided. */
function chargesOf({ context }: Calling, model: string): Map<string, CallRow> {
  const { rows } = context.db.query<CallRow>(
    `SELECT r.request_id AS ref, -r.charge_nanos AS amount_nanos, r.price_id, r.estimated,
       r.input_tokens, r.output_tokens, r.detail
     FROM requests r LEFT JOIN entries b ON b.ref = r.request_id AND b.kind = 'credit'
     WHERE r.number IS NOT NULL AND r.status <> 503 AND b.id IS NULL AND r.model = ?`,
    [model],
  )
  return new Map(rows.map((row) => [row.ref, row]))
}

/** Takes the charges of its lines out of `charges`. */
function verifyFiles(
  calling: Calling,
  upstream: Upstream,
  { lines, files }: BatchInput,
  row: BatchRow,
  charges: Map<string, CallRow>,
): void {
  const { world } = calling.context
  const wrong = (what: string) => world.addViolation(`batch ${row.id} (${row.state}) ${what}`)
  // Its input was never read.
  if (row.state === 'cancelled' && row.total === 0) return
  if (files === undefined) {
    wrong('has results that cannot be read')
    return
  }
  const [output, errors] = [linesIn(files.output), linesIn(files.errors)]
  const ids = [...output, ...errors].map(({ custom_id }) => custom_id).sort()
  if (ids.join() !== [...lines.keys()].sort().join()) wrong(`has results for ${ids}`)
  if (row.completed !== output.length || row.failed !== errors.length || row.total !== lines.size)
    wrong(`counts ${row.completed} and ${row.failed} of ${row.total}`)
  let sum = 0n
  for (const { custom_id, response } of output) {
    const ref = response?.request_id ?? ''
    const charge = charges.get(ref)
    charges.delete(ref)
    if (charge === undefined) wrong(`has an answer to ${custom_id} without a charge, ${ref}`)
    else {
      sum -= charge.amount_nanos
      const problem = wrongCharge(calling, upstream, lines.get(custom_id), charge)
      if (problem !== undefined) wrong(`has ${custom_id} with ${ref}, which ${problem}`)
    }
  }
  if (sum !== row.charge_nanos) wrong(`has cost ${row.charge_nanos}, its lines ${sum}`)
}

const linesIn = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

function wrongCharge(
  { records }: Calling,
  upstream: Upstream,
  prompt: string | undefined,
  { price_id, amount_nanos, estimated, input_tokens, output_tokens, detail }: CallRow,
): string | undefined {
  const price = records.prices.get(price_id)!
  const works = [...upstream.works.values()].filter(
    (work) => work.prompt === prompt && work.reported.includes('succeeded'),
  )
  if (works.length === 0) return 'no upstream has answered'
  const { loss = [] } = JSON.parse(detail) as { loss?: { reason: string; nanos: string }[] }
  const lost = loss
    .filter(({ reason }) => reason === 'balance_short' || reason === 'implausible_usage')
    .reduce((all, { nanos }) => all + BigInt(nanos), 0n)
  const right =
    estimated === 1
      ? [textCosts(price, input_tokens, output_tokens)!]
      : works.map((work) => textCosts(price, work.inputTokens, work.quantity ?? 0)!)
  const charged = -amount_nanos + lost
  return right.includes(charged) ? undefined : `costs ${charged}, not ${right.join(' or ')}`
}
