// Callers of text: complete replies and streams. The charge must be stored before the reply arrives.
import type { AnswerStream, CallContext } from '../../src/contract/caller-api.ts'
import { Refusal } from '../../src/contract/errors.ts'
import type { TextCall } from '../../src/contract/requests.ts'
import { runText } from '../../src/engine/calls/run-text.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { models } from '../world/settings.ts'
import { CallerConnection } from './caller-connection.ts'
import { type Calling, checkRefused } from './calling.ts'
import type { Input } from './records.ts'
import { sendCall } from './send-call.ts'

export const textInputTokens = 120
export const textOutputTokens = 300

export async function callText(calling: Calling, input: Input): Promise<void> {
  const { context, callers } = calling
  let requestId = ''
  const sent = await sendCall(
    calling,
    input.accountId,
    (engine, ctx, hangUp) => textAt(calling, engine, ctx, input, hangUp),
    (id) => {
      requestId = id
      input.requestIds.push(id)
    },
    input.at,
  )
  const answer =
    sent === 'lost' || sent.answer === 'cut'
      ? ({ kind: 'lost', requestId } as const)
      : sent.answer === 'whole'
        ? ({ kind: 'text', requestId } as const)
        : ({ kind: 'refused', requestId, code: sent.answer.code } as const)
  input.answers.push(answer)
  if (answer.kind === 'refused') checkRefused(calling, input, answer)
  context.world.note(`text ${input.number}: ${JSON.stringify(answer)}`, callers)
}

async function textAt(
  calling: Calling,
  engine: Engine,
  ctx: CallContext,
  input: Input,
  hangUp: () => void,
): Promise<'whole' | 'cut' | Refusal> {
  const follow = () => calling.solvent.follow(calling.context, calling.gateways, input.accountId)
  follow()
  const made = await runText(engine, ctx, callOf(input))
  follow()
  if (made instanceof Refusal) return made
  if (made.stream === undefined) {
    checkPaid(calling, input, ctx.requestId)
    return 'whole'
  }
  return readStream(calling, made.stream, ctx, input, hangUp)
}

async function readStream(
  calling: Calling,
  stream: AnswerStream,
  { requestId, signal }: CallContext,
  input: Input,
  hangUp: () => void,
): Promise<'whole' | 'cut'> {
  const { world, random, faults } = calling.context
  const connection = new CallerConnection()
  stream.start(connection)
  const proc = world.current
  // Nothing more is read from a closed connection.
  const gone = new Promise<'gone'>((go) => signal.addEventListener('abort', () => go('gone')))
  let text = ''
  for (;;) {
    if (random.work.chance(faults.callers.hangsUp / 8)) hangUp()
    if (signal.aborted) return 'cut'
    const next = await Promise.race([connection.read(), gone])
    if (next === 'gone') continue
    if (next === undefined) break
    text += Buffer.from(next).toString()
    if (text.includes('[DONE]')) checkPaid(calling, input, requestId)
    await world.pause(random.work.between(0, 300), proc)
  }
  return text.includes('[DONE]') ? 'whole' : 'cut'
}

/** The charge is durable before the reply leaves, and complete if the account can pay it. */
function checkPaid(calling: Calling, { accountId }: Input, requestId: string): void {
  const { context, solvent, gateways } = calling
  solvent.follow(context, gateways, accountId)
  const { db } = context
  const [row] = db.query<{ detail: string }>(
    `SELECT r.detail FROM ledger e JOIN requests r ON r.request_id = e.ref
     WHERE e.ref = ? AND e.kind = 'charge' AND r.charge_nanos = -e.amount_nanos`,
    [requestId],
  ).rows
  const detail =
    row?.detail ?? gateways.map(({ disk }) => disk.chargedDetail(db, requestId)).find(Boolean)
  if (detail === undefined) {
    context.world.addViolation(`${requestId} was answered before it was paid for`)
  } else if (detail.includes('"balance_short"') && solvent.has(accountId, 'text')) {
    context.world.addViolation(`${requestId} was not paid for in full, which ${accountId} could`)
  }
}

function callOf({ prompt, stream }: Input): TextCall {
  const fields = {
    model: models.text,
    messages: [{ role: 'user', content: prompt }],
    max_tokens: textOutputTokens,
    stream,
  }
  return {
    interface: 'chat',
    model: models.text,
    stream,
    wantsUsage: false,
    body: JSON.stringify(fields),
    fields,
    inputTokens: textInputTokens,
    inputBound: { maxTextTokens: textInputTokens, images: 0, isOpen: false, inputs: 1 },
    maxOutputTokens: textOutputTokens,
    choices: 1,
  }
}
