// The tasks of one sandbox: when each is queued, runs and ends, and what is told when it is looked
// at. One that another sandbox made is known by its id alone. Knows no wire; what a protocol calls a
// state is its own affair.
import type { TaskState } from '../../src/contract/task.ts'
import type { LoggedCall } from '../http/call-log.ts'
import type { Directives } from '../http/directives.ts'
import { newTaskId, readTaskId, type Schedule, type TaskIds } from './task-id.ts'

export type SandboxTaskState = Exclude<TaskState, 'accepted' | 'unknown'>

/** What a protocol wants done. */
export interface TaskOrder {
  /** Only who made a task can see it; empty when that is not known any more. */
  key: string
  /** The call that made it. */
  callId: string
  model: string
  /** Of video; 0 where pictures are made. */
  seconds: number
  /** 720p or 1080p; of pictures whatever the protocol says. */
  resolution: string
  /** How many come, once it succeeds; absent where a video is made. */
  pictures?: number
  directives: Directives
}

export interface SandboxTask<Order extends TaskOrder = TaskOrder> {
  id: string
  order: Order
  createdMs: number
  /** When it leaves the queue and when it is done, unless it is cancelled. */
  startsMs: number
  endsMs: number
  cancelledMs?: number
  polls: number
  /** Those that went wrong, as was ordered. */
  troubledPolls: number
  /** Those since it is done. */
  lateReads: number
}

/** On the wire as it stands here. */
export interface ListedTask {
  id: string
  model: string
  state: SandboxTaskState
  seconds: number
  resolution: string
  pictures?: number
  created_ms: number
  polls: number
}

/** A call that made a task has these besides. */
export type LoggedCreate = LoggedCall & { task_id?: string; state?: SandboxTaskState }

const mostTasks = 10_000
/** Serials come in turn; where they begin is left to chance, so that two sandboxes differ. */
const serials = 2 ** 21
const queuedShare = 1 / 5
const mostTroubledPolls = 2
/** What a task with `flip` says when it is looked at after its end; the last one stays. */
const flips: readonly SandboxTaskState[] = ['succeeded', 'failed', 'succeeded']

export interface TaskClock {
  taskSeconds: number
  now: () => number
}

export class TaskMemory<Order extends TaskOrder = TaskOrder> {
  readonly #tasks = new Map<string, SandboxTask<Order>>()
  readonly #byCall = new Map<string, SandboxTask<Order>>()
  /** Those that others made, or that were forgotten, and what has been done to them here. */
  readonly #strangers = new Map<string, SandboxTask<Order>>()
  readonly #clock: TaskClock
  readonly #ids: TaskIds<Order>
  readonly #capacity: number
  #serial = Math.floor(Math.random() * serials)

  constructor(clock: TaskClock, ids: TaskIds<Order>, capacity = mostTasks) {
    this.#clock = clock
    this.#ids = ids
    this.#capacity = capacity
  }

  /** Undefined when the memory is full of tasks that have not ended. */
  create(order: Order): SandboxTask<Order> | undefined {
    if (this.#tasks.size >= this.#capacity && !this.#dropOldestEnded()) return undefined
    const { delayMs } = order.directives
    const takesMs = Math.round(delayMs > 0 ? delayMs : this.#clock.taskSeconds * 1000)
    const schedule = { createdMs: this.#clock.now(), takesMs }
    this.#serial = (this.#serial + 1) % serials
    const task = begin(newTaskId(this.#ids, order, schedule, this.#serial), order, schedule)
    this.#tasks.set(task.id, task)
    this.#byCall.set(order.callId, task)
    return task
  }

  find(id: string, key: string): SandboxTask<Order> | undefined {
    const own = this.#tasks.get(id)
    if (own !== undefined) return this.#isSeenBy(key, own) ? own : undefined
    const task = this.#strangers.get(id) ?? this.#meet(id)
    return task === undefined || this.#isGone(task) ? undefined : task
  }

  #meet(id: string): SandboxTask<Order> | undefined {
    const plan = readTaskId(this.#ids, id)
    if (plan === undefined) return undefined
    const { directives, carried } = plan
    // All that an order has besides is carried.
    const order = { ...carried, key: '', callId: '', directives } as unknown as Order
    const task = begin(id, order, plan)
    this.#strangers.set(id, task)
    if (this.#strangers.size > this.#capacity) {
      this.#strangers.delete(this.#strangers.keys().next().value!)
    }
    return task
  }

  /** Newest first. */
  ofKey(key: string): SandboxTask<Order>[] {
    return [...this.#tasks.values()].filter((task) => this.#isSeenBy(key, task)).reverse()
  }

  #isSeenBy(key: string, task: SandboxTask): boolean {
    return task.order.key === key && !this.#isGone(task)
  }

  /** One that vanishes is forgotten as soon as it should run. */
  #isGone({ order, startsMs }: SandboxTask): boolean {
    return order.directives.vanish && this.#clock.now() >= startsMs
  }

  /** What goes wrong with this question; undefined when nothing does. */
  trouble(task: SandboxTask): Directives['poll'] {
    if (task.troubledPolls >= mostTroubledPolls) return undefined
    const { poll } = task.order.directives
    if (poll !== undefined) task.troubledPolls++
    return poll
  }

  /** How it really is. */
  stateOf(task: SandboxTask): SandboxTaskState {
    const now = this.#clock.now()
    if (task.cancelledMs !== undefined) return 'cancelled'
    if (now < task.startsMs) return 'queued'
    if (now < task.endsMs) return 'running'
    return task.order.directives.fail === undefined ? 'succeeded' : 'failed'
  }

  /** What who asks for it is told; every time counts. */
  poll(task: SandboxTask): SandboxTaskState {
    task.polls++
    const state = this.stateOf(task)
    if (state !== 'succeeded' || !task.order.directives.flip) return state
    return flips[Math.min(task.lateReads++, flips.length - 1)]!
  }

  /** False when it is too late: only a queued task can be cancelled. */
  cancel(task: SandboxTask): boolean {
    if (this.stateOf(task) !== 'queued') return false
    task.cancelledMs = this.#clock.now()
    return true
  }

  /** Those made here. */
  list(): ListedTask[] {
    return [...this.#tasks.values()].map((task) => ({
      id: task.id,
      model: task.order.model,
      state: this.stateOf(task),
      seconds: task.order.seconds,
      resolution: task.order.resolution,
      ...(task.order.pictures !== undefined && { pictures: task.order.pictures }),
      created_ms: task.createdMs,
      polls: task.polls,
    }))
  }

  /** A row of the call log with the task it made, if any. */
  annotate(call: LoggedCall): LoggedCreate {
    const task = this.#byCall.get(call.id)
    return task === undefined ? call : { ...call, task_id: task.id, state: this.stateOf(task) }
  }

  #dropOldestEnded(): boolean {
    for (const task of this.#tasks.values()) {
      const state = this.stateOf(task)
      if (state === 'queued' || state === 'running') continue
      this.#byCall.delete(task.order.callId)
      return this.#tasks.delete(task.id)
    }
    return false
  }
}

const begin = <Order extends TaskOrder>(
  id: string,
  order: Order,
  { createdMs, takesMs }: Schedule,
): SandboxTask<Order> => ({
  id,
  order,
  createdMs,
  startsMs: createdMs + takesMs * queuedShare,
  endsMs: createdMs + takesMs,
  polls: 0,
  troubledPolls: 0,
  lateReads: 0,
})
