// A create repeated under the same idempotency key gets the first one's answer, and nothing is
// made, sent or held a second time. The answer comes from the task; only the key is stored.
import type { Created } from '../../../contract/caller-api.ts'
import type { Token } from '../../../contract/catalog.ts'
import { Refusal, type RefusalCode, refusals, refuse } from '../../../contract/errors.ts'
import { isOwnCall, type Task } from '../../../contract/task.ts'
import { sureNowMs } from '../../../lib/clock.ts'
import { fingerprintOf } from '../../../lib/crypto/fingerprint.ts'
import type { Tx } from '../../../store/index.ts'
import {
  type CreateName,
  type CreateRow,
  dropCreate,
  findCreate,
  insertCreate,
  pruneCreates,
} from '../../../store/tasks/create-keys.ts'
import { findTaskRow } from '../../../store/tasks/tasks.ts'
import type { TaskDeps } from '../task-deps.ts'
import { loseTrackOf, lostTrack } from './lose-track.ts'
import type { TaskInput } from './task-members.ts'
import { isUnderWay } from './under-way.ts'

export interface KeyedCreate extends CreateName {
  fingerprint: string
}

/** The request that this answer was first given to, when it is not this one. */
export function replayedIn(made: object): string | undefined {
  if (made instanceof Refusal) return made.extras.replayOf
  return 'replayed' in made ? (made as Created).task.requestId : undefined
}

const keptMs = 30 * 24 * 3600_000

/** `asked`: what else the answer depends on. */
export async function keyedCreate(
  token: Token,
  input: TaskInput,
  asked: object = {},
): Promise<KeyedCreate | undefined> {
  if (input.key === undefined) return undefined
  const { interface: use, model, callbackUrl, externalId } = input
  const wanted = wantedBy(input)
  const fingerprint = await fingerprintOf({
    interface: use,
    model,
    wanted,
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(externalId !== undefined && { externalId }),
    ...asked,
  })
  return { accountId: token.accountId, ...input.key, fingerprint }
}

/** For a native request only the body is the caller's own; the rest was derived from it. */
const wantedBy = (input: TaskInput): unknown =>
  input.kind === 'response' ? input.call.fields : (input.request.native?.body ?? input.request)

/**
 * Of concurrent requests, the later ones must not hold money, not even briefly: until it is
 * released, no other create here runs under this key. The answer, where the key has been used.
 */
export async function claimKey(
  deps: TaskDeps,
  keyed: KeyedCreate | undefined,
): Promise<Created | Refusal | undefined> {
  if (keyed === undefined) return undefined
  const claim = claimOf(keyed)
  if (deps.creating.has(claim)) return inFlight
  const before = await findFirst(deps, keyed)
  if (before !== undefined) return before
  if (deps.creating.has(claim)) return inFlight
  deps.creating.add(claim)
  return undefined
}

export function releaseKey(deps: TaskDeps, keyed: KeyedCreate | undefined): void {
  if (keyed === undefined) return
  deps.creating.delete(claimOf(keyed))
  pruneNowAndThen(deps)
}

const claimOf = ({ accountId, path, key }: KeyedCreate) => JSON.stringify([accountId, path, key])

/** In the transaction of the task's row; false when the key is taken. */
export const keepKey = (
  deps: TaskDeps,
  tx: Tx,
  { fingerprint, ...name }: KeyedCreate,
  { id: taskId, createdAtMs }: Task,
): Promise<boolean> => {
  const row: CreateRow = { ...name, fingerprint, taskId, createdAtMs }
  return insertCreate(tx, row, sinceMs(deps))
}

/** Keys from before are free. */
export const keysSinceMs = (clock: TaskDeps['clock']): number => sureNowMs(clock) - keptMs

const sinceMs = ({ clock }: TaskDeps): number => keysSinceMs(clock)

/** The answer to the first create under this key. */
export async function findFirst(
  deps: TaskDeps,
  keyed: KeyedCreate | undefined,
): Promise<Created | Refusal | undefined> {
  if (keyed === undefined) return undefined
  const { read } = deps.store
  const first = await findCreate(read, keyed, sinceMs(deps))
  if (first === undefined) return undefined
  const task = await findTaskRow(read, first.taskId, keyed.accountId)
  if (task !== undefined && wasRefused(task)) {
    await deps.store.tx((tx) => dropCreate(tx, keyed, task.id))
    return undefined
  }
  if (first.fingerprint !== keyed.fingerprint) return mismatch
  if (task === undefined) return inFlight
  return task.state === 'accepted'
    ? isLeftBehind(deps, task, () => findFirst(deps, keyed))
    : firstAnswer(task)
}

/** In progress while the gateway that sends it lives; after that its answer is lost. */
async function isLeftBehind(
  deps: TaskDeps,
  task: Task,
  again: () => ReturnType<typeof findFirst>,
): ReturnType<typeof findFirst> {
  if (task.awaitedBy === undefined || (await isUnderWay(deps, task))) return inFlight
  const lost = await loseTrackOf(deps, task, leftBehind)
  return lost === undefined ? again() : firstRefusal(lost)
}

const leftBehind = { message: 'the gateway that was sending it stopped; it is not sent again' }

/** The upstream refused it: nothing was made, and the key is free for another try. */
const wasRefused = (task: Task): boolean => !isOwnCall(task) && isRefusedCreate(task)

const isRefusedCreate = ({ state, upstreamId, error }: Task): boolean =>
  state === 'failed' &&
  upstreamId === undefined &&
  error !== undefined &&
  isRefusalCode(error.code) &&
  !mayBeMade.has(error.code)

/** A task without an upstream id was never shown: its create was refused. */
function firstAnswer(task: Task): Created | Refusal {
  const isMade = task.upstreamId !== undefined || task.state === 'succeeded'
  if (isMade || isOwnCall(task)) return { task, replayed: true }
  return firstRefusal(task)
}

/** The error of a failed task. */
export function firstRefusal(task: Task): Refusal {
  const { code, message } = task.error ?? outcomeUnknown
  const upstreamRequestId = task.error?.upstreamRequestId
  const extras = {
    ...(upstreamRequestId !== undefined && { upstreamRequestId }),
    replayOf: task.requestId,
  }
  if (code === outcomeUnknown.code) return lostTrack(task, message, extras)
  return refuse(isRefusalCode(code) ? code : 'upstream_error', message, extras)
}

const outcomeUnknown = {
  code: 'upstream_outcome_unknown',
  message: 'nothing has been heard of it since',
} as const

/** The upstream did the work, or may have: under the same key it is not sent again. */
const mayBeMade: ReadonlySet<string> = new Set([
  outcomeUnknown.code,
  'result_download_failed',
  'no_output',
])

const isRefusalCode = (code: string): code is RefusalCode => Object.hasOwn(refusals, code)

/** As first answered, before any progress, whatever its state is now. */
export function asCreated(task: Task): Task {
  const { startedAtMs, finishedAtMs, usage, reported, error, ...rest } = task
  return { ...rest, state: 'queued', progress: 0, media: [], chargeNanos: 0n, hidden: false }
}

export const inFlight = refuse(
  'idempotency_in_flight',
  'a create with this Idempotency-Key is still under way',
  { retryAfterSeconds: 1 },
)

export const mismatch = refuse(
  'idempotency_mismatch',
  'this Idempotency-Key was used for another request',
  { param: 'Idempotency-Key' },
)

/** One in this many creates with a key deletes old keys; more each time than are added. */
const pruneEvery = 64
const pruneRows = 256

function pruneNowAndThen(deps: TaskDeps): void {
  if (deps.random() * pruneEvery >= 1) return
  deps.store
    .tx((tx) => pruneCreates(tx, sinceMs(deps), pruneRows))
    .catch((error: unknown) => deps.log.warn('expired idempotency keys not deleted', { error }))
}
