// What the rest of the engine asks of the background jobs. create-engine.ts makes and runs them.
import type { Refusal } from '../contract/errors.ts'
import type { Loss } from '../contract/ledger.ts'
import type { RequestRecord } from '../contract/requests.ts'
import type { ResponseTask, Task, TaskState } from '../contract/task.ts'
import type { Tx } from '../store/index.ts'
import type { PollLag } from './tasks/poll/poll-lag.ts'
import type { Durations } from './tasks/poll/poll-schedule.ts'

/** Runs a round at this moment, or earlier if that is planned; without a moment, now. */
interface Wakeable {
  wake(atMs?: number): void
}

export interface Jobs {
  readonly poller: Wakeable & {
    /** How late polls are. */
    readonly lag: PollLag
    /** How long tasks of each model usually take. */
    readonly durations: Durations
    /** Writes a poll that ended nothing; false when the lease was lost. */
    savePoll(task: Task, still: TaskState, fence: number): Promise<boolean>
  }
  /** Background responses that the gateway makes itself. */
  readonly ownResponses: {
    /** Sends one that was not sent before. False: not now. */
    run(task: ResponseTask, fence: number): Promise<boolean>
    /** It has ended; nothing happens where another gateway makes it. */
    stop(taskId: string): void
  }
  readonly callbacks: Wakeable
  /** Runs batches. */
  readonly batches: Wakeable
  /** Sends notices. */
  readonly notices: Wakeable
  readonly conditions: {
    /** For an alert that a person resolves: false while what it is about lasts. */
    dismiss(tx: Tx, kind: string, subject: string): Promise<boolean>
  }
  readonly emptyAccounts: {
    /** A refusal of this account would have to be told. */
    isDue(accountId: string): boolean
    /** A call was refused for want of balance; resolves when that is told. */
    refused(accountId: string): Promise<void>
    credited(accountId: string): void
  }
  /** Polls abandoned tasks. */
  readonly abandonedChecks: Wakeable
  readonly lossAlerts: {
    /** A loss has been recorded. */
    announce(loss: Loss): void
    /** The losses in a call's log row. */
    addOfCall(record: RequestRecord): void
  }
  readonly priceWatch: {
    /** After a change of catalog or prices. */
    check(): Promise<void>
  }
  readonly clockWatch: {
    /** The refusal for new work. */
    readonly refusal: Refusal | undefined
    poll(): void
  }
  /** Absent where results are not kept. */
  readonly mediaKeeper?: {
    /** A task has succeeded, and its end is written. */
    keep(task: Task): void
    /** A file has been kept. */
    kept(bytes: number): void
  }
}
