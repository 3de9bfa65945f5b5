// Callers of batches: they upload a file of calls, create its batch once, sometimes cancel it, and fetch its results
// when it is over.
import type { Batch } from '../../src/contract/batches/index.ts'
import { Refusal } from '../../src/contract/errors.ts'
import { cancelBatch, readBatch } from '../../src/engine/batches/batches.ts'
import { createBatch } from '../../src/engine/batches/create-batch.ts'
import { keepFile, openFile, receiveFile } from '../../src/engine/batches/files.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { partModels } from '../world/settings.ts'
import type { Calling } from './calling.ts'
import type { BatchInput } from './records.ts'
import { sendCall, tokenOf } from './send-call.ts'
import { textOutputTokens } from './text-caller.ts'

const endpoint = '/v1/chat/completions'
/** How their prompts begin. */
export const linePrompt = 'words for'
const maxBatches = 3
const maxLines = 7
const maxTries = 8
const ends = ['completed', 'failed', 'expired', 'cancelled']

export function planBatches(calling: Calling, overMs: number): void {
  const { context, callers, records } = calling
  const { world, random } = context
  const count = random.parts.whole(1, maxBatches)
  for (let number = 1; number <= count; number++) {
    const size = random.parts.whole(2, maxLines)
    const ids = Array.from({ length: size }, (_, at) => `line ${number}.${at + 1}`)
    const batch: BatchInput = {
      ...{ number, key: `batch ${number}` },
      accountId: random.parts.pick(records.accounts).id,
      lines: new Map(ids.map((id) => [id, `${linePrompt} ${id}`])),
      ...{ fileId: undefined, batchId: undefined, files: undefined },
    }
    records.batches.push(batch)
    world.after(random.parts.between(0, overMs), callers, () => void followBatch(calling, batch))
  }
}

async function followBatch(calling: Calling, input: BatchInput): Promise<void> {
  const { context, records, callers } = calling
  const { world, random } = context
  records.waiting++
  try {
    input.fileId = await untilAnswered(calling, input, (engine) => upload(engine, input))
    if (input.fileId === undefined) return
    const times = random.parts.chance(0.3) ? 2 : 1
    await Promise.all(Array.from({ length: times }, () => create(calling, input)))
    if (input.batchId === undefined) return
    await world.pause(random.parts.between(0, 6_000), callers)
    if (random.parts.chance(context.profile.cancels / 2)) await callOff(calling, input)
    const batch = await watch(calling, input)
    input.files = await untilAnswered(
      calling,
      input,
      (engine) => readFiles(engine, input, batch),
      99,
    )
  } finally {
    records.waiting--
  }
}

/** Undefined when the caller has given up. */
async function untilAnswered<T>(
  calling: Calling,
  { accountId }: BatchInput,
  work: (engine: Engine) => Promise<T | Refusal>,
  tries = maxTries,
): Promise<T | undefined> {
  const { context, callers } = calling
  for (let left = tries; left > 0; left--) {
    const sent = await sendCall(calling, accountId, work)
    if (sent !== 'lost' && !(sent.answer instanceof Refusal)) return sent.answer
    if (sent !== 'lost') context.world.note(`refused: ${(sent.answer as Refusal).code}`, callers)
    await context.world.pause(context.random.parts.between(100, 3_000), callers)
  }
  return undefined
}

async function upload(engine: Engine, { accountId, lines, number }: BatchInput) {
  const texts = [...lines].map(([custom_id, content]) => {
    const messages = [{ role: 'user', content }]
    const body = { model: partModels.line, messages, max_tokens: textOutputTokens }
    return JSON.stringify({ custom_id, method: 'POST', url: endpoint, body })
  })
  const content = (async function* () {
    yield Buffer.from(texts.join('\n'))
  })()
  const received = await receiveFile(engine, tokenOf(accountId), content)
  if (received instanceof Refusal) return received
  const kept = await keepFile(engine, received, { filename: `batch ${number}` })
  return kept instanceof Refusal ? kept : kept.id
}

async function create(calling: Calling, input: BatchInput): Promise<void> {
  const { accountId, key, fileId } = input
  const { world } = calling.context
  const made = await untilAnswered(calling, input, (engine) =>
    createBatch(engine, tokenOf(accountId), { inputFileId: fileId!, endpoint, key }),
  )
  world.note(`batch ${input.number}: ${made?.batch.id}`, calling.callers)
  if (made === undefined) return
  if (input.batchId !== undefined && input.batchId !== made.batch.id)
    world.addViolation(`${key} has made ${input.batchId} and ${made.batch.id}`)
  input.batchId = made.batch.id
}

async function callOff(calling: Calling, { accountId, batchId }: BatchInput): Promise<void> {
  const sent = await sendCall(calling, accountId, (engine) =>
    cancelBatch(engine, tokenOf(accountId), batchId!),
  )
  const outcome = sent === 'lost' ? sent : 'state' in sent.answer ? sent.answer.state : 'refused'
  calling.context.world.note(`cancel of ${batchId}: ${outcome}`, calling.callers)
}

/** For as long as it takes. */
async function watch(calling: Calling, { accountId, batchId }: BatchInput): Promise<Batch> {
  const { context, callers } = calling
  for (;;) {
    await context.world.pause(context.random.parts.between(1_000, 9_000), callers)
    const sent = await sendCall(calling, accountId, (engine) =>
      readBatch(engine, tokenOf(accountId), batchId!),
    )
    if (sent === 'lost' || sent.answer instanceof Refusal) continue
    if (ends.includes(sent.answer.state)) return sent.answer
  }
}

async function readFiles(engine: Engine, { accountId }: BatchInput, batch: Batch) {
  const texts: string[] = []
  for (const id of [batch.outputFileId, batch.errorFileId]) {
    const opened = id === undefined ? undefined : await openFile(engine, tokenOf(accountId), id)
    if (opened instanceof Refusal) return opened
    let text = ''
    if (opened !== undefined) {
      for await (const piece of opened.body) text += Buffer.from(piece).toString()
    }
    texts.push(text)
  }
  return { output: texts[0]!, errors: texts[1]! }
}
