// Callers of background responses: some are made by an upstream, some by the gateway itself. Also what they do with
// them later.
import type { CallContext } from '../../src/contract/caller-api.ts'
import { Refusal } from '../../src/contract/errors.ts'
import type { TextCall } from '../../src/contract/requests.ts'
import type { Task } from '../../src/contract/task.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { cancelResponse, readResponse, startResponse } from '../../src/engine/tasks/background.ts'
import { partModels } from '../world/settings.ts'
import type { Calling } from './calling.ts'
import type { Input } from './records.ts'
import { tokenOf } from './send-call.ts'
import { textInputTokens, textOutputTokens } from './text-caller.ts'

const maxResponses = 7

export const isBackground = ({ kind }: Input): boolean =>
  kind === 'response' || kind === 'ownResponse'

export function planBackground(
  calling: Calling,
  overMs: number,
  follow: (calling: Calling, input: Input) => Promise<void>,
): void {
  const { context, callers } = calling
  const { world, random } = context
  const count = random.parts.whole(3, maxResponses)
  for (let each = 0; each < count; each++) {
    const input = newInput(calling)
    world.after(random.parts.between(0, overMs), callers, () => void follow(calling, input))
  }
}

function newInput({ context, records }: Calling): Input {
  const { random } = context
  const number = records.inputs.length + 1
  const input: Input = {
    number,
    kind: random.parts.pick(['response', 'ownResponse', 'ownResponse'] as const),
    accountId: random.parts.pick(records.accounts).id,
    prompt: `task ${number}`,
    key: random.parts.chance(0.6) ? `key ${number}` : undefined,
    callbackUrl: undefined,
    ...{ seconds: 0, resolution: '720p', count: 0, wantsBytes: false, stream: false },
    answers: [],
    requestIds: [],
  }
  records.inputs.push(input)
  return input
}

export async function createBackground(
  engine: Engine,
  ctx: CallContext,
  { kind, prompt, key }: Input,
): Promise<{ taskId: string; replayed: boolean } | Refusal> {
  const model = kind === 'response' ? partModels.response : partModels.ownResponse
  const fields = { model, input: prompt, max_output_tokens: textOutputTokens, background: true }
  const call: TextCall = {
    ...{ interface: 'responses', model, stream: false, wantsUsage: false, background: true },
    ...{ body: JSON.stringify(fields), fields },
    inputTokens: textInputTokens,
    inputBound: { maxTextTokens: textInputTokens, images: 0, isOpen: false, inputs: 1 },
    maxOutputTokens: textOutputTokens,
    choices: 1,
  }
  const keyed = key === undefined ? {} : { key: { path: '/v1/responses', key } }
  const made = await startResponse(engine, ctx, call, { headers: {}, ...keyed })
  return made instanceof Refusal ? made : { taskId: made.task.id, replayed: made.replayed }
}

/** One that has ended stays as it is. */
export async function cancelBackground(
  engine: Engine,
  { accountId }: Input,
  id: string,
): Promise<Task | Refusal> {
  const kept = await cancelResponse(engine, tokenOf(accountId), id)
  return kept instanceof Refusal ? kept : kept.task
}

export async function readBackground(
  engine: Engine,
  { accountId }: Input,
  id: string,
): Promise<Task | undefined> {
  return (await readResponse(engine, tokenOf(accountId), id))?.task
}
