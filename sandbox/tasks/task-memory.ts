// The tasks of one sandbox: when each is queued, runs and ends, and which state a poll returns. A task
// of another sandbox is known by its id alone. Knows no wire format; each protocol names the states.
import type { TaskState } from '../../src/contract/task.ts'
import type { LoggedCall } from '../http/call-log.ts'
import type { Directives } from '../http/directives.ts'
import { newTaskId, readTaskId, type Schedule, type TaskIds, type TaskInput } from './task-id.ts'

export type SandboxTaskState = Exclude<TaskState, 'accepted' | 'unknown'>

export interface SandboxTask<Input extends TaskInput = TaskInput> {
  id: string
  input: Input
  createdMs: number
  /** When it leaves the queue and when it is done, unless it is cancelled. */
  startsMs: number
  endsMs: number
  cancelledMs?: number
  polls: number
  /** Polls that failed by a directive. */
  troubledPolls: number
  /** Polls after its end. */
  lateReads: number
}

/** As the API lists it. */
export interface ListedTask {
  id: string
  model: string
  state: SandboxTaskState
  seconds: number
  resolution: string
  images?: number
  created_ms: number
  polls: number
}

/** A call that created a task also has these. */
export type LoggedCreate = LoggedCall & { task_id?: string; state?: SandboxTaskState }

const maxTasks = 10_000
/** Serials count up from a random start, so that two sandboxes differ. */
const serials = 2 ** 21
const queuedShare = 1 / 5
const maxTroubledPolls = 2
/** What polls of a task with `flip` return after its end; the last one stays. */
const flips: readonly SandboxTaskState[] = ['succeeded', 'failed', 'succeeded']

interface TaskClock {
  taskSeconds: number
  now: () => number
}

export class TaskMemory<Input extends TaskInput = TaskInput> {
  readonly #tasks = new Map<string, SandboxTask<Input>>()
  readonly #byCall = new Map<string, SandboxTask<Input>>()
  /** Tasks of other sandboxes and dropped ones, with what was done to them here. */
  readonly #foreign = new Map<string, SandboxTask<Input>>()
  readonly #clock: TaskClock
  readonly #ids: TaskIds<Input>
  readonly #capacity: number
  #serial = Math.floor(Math.random() * serials)

  constructor(clock: TaskClock, ids: TaskIds<Input>, capacity = maxTasks) {
    this.#clock = clock
    this.#ids = ids
    this.#capacity = capacity
  }

  /** Undefined when the memory is full of tasks that have not ended. */
  create(input: Input): SandboxTask<Input> | undefined {
    if (this.#tasks.size >= this.#capacity && !this.#dropOldestEnded()) return undefined
    const { delayMs } = input.directives
    const takesMs = Math.round(delayMs > 0 ? delayMs : this.#clock.taskSeconds * 1000)
    const schedule = { createdMs: this.#clock.now(), takesMs }
    this.#serial = (this.#serial + 1) % serials
    const task = begin(newTaskId(this.#ids, input, schedule, this.#serial), input, schedule)
    this.#tasks.set(task.id, task)
    this.#byCall.set(input.callId, task)
    return task
  }

  find(id: string, key: string): SandboxTask<Input> | undefined {
    const own = this.#tasks.get(id)
    if (own !== undefined) return this.#isSeenBy(key, own) ? own : undefined
    const task = this.#foreign.get(id) ?? this.#readForeign(id)
    return task === undefined || this.#isGone(task) ? undefined : task
  }

  #readForeign(id: string): SandboxTask<Input> | undefined {
    const plan = readTaskId(this.#ids, id)
    if (plan === undefined) return undefined
    const { directives, carried } = plan
    // The id carries the other fields of the input.
    const input = { ...carried, key: '', callId: '', directives } as unknown as Input
    const task = begin(id, input, plan)
    this.#foreign.set(id, task)
    if (this.#foreign.size > this.#capacity) {
      this.#foreign.delete(this.#foreign.keys().next().value!)
    }
    return task
  }

  /** Newest first. */
  ofKey(key: string): SandboxTask<Input>[] {
    return [...this.#tasks.values()].filter((task) => this.#isSeenBy(key, task)).reverse()
  }

  #isSeenBy(key: string, task: SandboxTask): boolean {
    return task.input.key === key && !this.#isGone(task)
  }

  /** A task that vanishes is gone as soon as it should run. */
  #isGone({ input, startsMs }: SandboxTask): boolean {
    return input.directives.vanish && this.#clock.now() >= startsMs
  }

  /** How this poll fails; undefined when it does not. */
  trouble(task: SandboxTask): Directives['poll'] {
    if (task.troubledPolls >= maxTroubledPolls) return undefined
    const { poll } = task.input.directives
    if (poll !== undefined) task.troubledPolls++
    return poll
  }

  /** The actual state. */
  stateOf(task: SandboxTask): SandboxTaskState {
    const now = this.#clock.now()
    if (task.cancelledMs !== undefined) return 'cancelled'
    if (now < task.startsMs) return 'queued'
    if (now < task.endsMs) return 'running'
    return task.input.directives.fail === undefined ? 'succeeded' : 'failed'
  }

  /** The state that a poll returns; every poll counts. */
  poll(task: SandboxTask): SandboxTaskState {
    task.polls++
    const state = this.stateOf(task)
    if (state !== 'succeeded' || !task.input.directives.flip) return state
    return flips[Math.min(task.lateReads++, flips.length - 1)]!
  }

  /** False when it is too late: only a queued task can be cancelled. */
  cancel(task: SandboxTask): boolean {
    if (this.stateOf(task) !== 'queued') return false
    task.cancelledMs = this.#clock.now()
    return true
  }

  /** Tasks created here. */
  list(): ListedTask[] {
    return [...this.#tasks.values()].map((task) => ({
      id: task.id,
      model: task.input.model,
      state: this.stateOf(task),
      seconds: task.input.seconds,
      resolution: task.input.resolution,
      ...(task.input.images !== undefined && { images: task.input.images }),
      created_ms: task.createdMs,
      polls: task.polls,
    }))
  }

  /** A row of the call log with the task it created, if any. */
  annotate(call: LoggedCall): LoggedCreate {
    const task = this.#byCall.get(call.id)
    return task === undefined ? call : { ...call, task_id: task.id, state: this.stateOf(task) }
  }

  #dropOldestEnded(): boolean {
    for (const task of this.#tasks.values()) {
      const state = this.stateOf(task)
      if (state === 'queued' || state === 'running') continue
      this.#byCall.delete(task.input.callId)
      return this.#tasks.delete(task.id)
    }
    return false
  }
}

const begin = <Input extends TaskInput>(
  id: string,
  input: Input,
  { createdMs, takesMs }: Schedule,
): SandboxTask<Input> => ({
  id,
  input,
  createdMs,
  startsMs: createdMs + takesMs * queuedShare,
  endsMs: createdMs + takesMs,
  polls: 0,
  troubledPolls: 0,
  lateReads: 0,
})
