// Background responses as their callers ask for them: their own only, with the answer while it is kept.
import type { BackgroundOptions, CallContext, KeptResponse } from '../../contract/caller-api.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import { isEnd, type ResponseTask, type Task } from '../../contract/task.ts'
import { dropTaskText } from '../../store/tasks/texts.ts'
import type { Engine } from '../engine.ts'
import { cancelTask, hideTask } from './cancel-task.ts'
import { createResponse, responseNotFound } from './create/create-response.ts'
import { findOwnRow } from './read-task.ts'
import { readText } from './task-texts.ts'

export async function startResponse(
  engine: Engine,
  ctx: CallContext,
  call: TextCall,
  options: BackgroundOptions,
): Promise<(KeptResponse & { replayed: boolean }) | Refusal> {
  const made = await createResponse(engine, ctx, call, options)
  if (made instanceof Refusal) return made
  const { task, replayed } = made
  return { ...(await withAnswer(engine, task as ResponseTask)), replayed }
}

/** Undefined: unknown, deleted, of another account, or its answer is no longer kept. */
export async function readResponse(
  engine: Engine,
  token: Token,
  id: string,
): Promise<KeptResponse | undefined> {
  const task = await findResponse(engine, token, id)
  if (task === undefined) return undefined
  const kept = await withAnswer(engine, task)
  return task.state === 'succeeded' && kept.answer === undefined ? undefined : kept
}

/** By the gateway's id only: that of an upstream is not the caller's. */
async function findResponse(
  engine: Engine,
  token: Token,
  id: string,
): Promise<ResponseTask | undefined> {
  const task = await findOwnRow(engine, token, id)
  return task?.kind === 'response' && task.id === id ? task : undefined
}

const withAnswer = async (engine: Engine, task: ResponseTask): Promise<KeptResponse> => ({
  task,
  answer: isEnd(task.state) ? await readText(engine, task, 'answer') : undefined,
})

export async function cancelResponse(
  engine: Engine,
  token: Token,
  id: string,
): Promise<KeptResponse | Refusal> {
  const task = await findResponse(engine, token, id)
  if (task === undefined) return responseNotFound(id)
  const cancelled = isEnd(task.state) ? task : await cancelTask(engine, task, { byCaller: true })
  if (!(cancelled instanceof Refusal)) return withAnswer(engine, cancelled as ResponseTask)
  // It may have ended meanwhile, and then it stays as it is.
  const now = await findResponse(engine, token, id)
  return now !== undefined && isEnd(now.state) ? withAnswer(engine, now) : cancelled
}

export async function deleteResponse(
  engine: Engine,
  token: Token,
  id: string,
): Promise<Task | Refusal> {
  const ended = await cancelResponse(engine, token, id)
  if (ended instanceof Refusal) return ended
  const hidden = await hideTask(engine, token, id)
  if (!(hidden instanceof Refusal)) await engine.store.tx((tx) => dropTaskText(tx, id))
  return hidden
}
