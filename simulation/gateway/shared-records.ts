// Records of several gateways on their way into the shared database: a batch is retried while the database has
// faults, arrives even if its sender dies, and has a deadline. Times as in the PostgreSQL store.
import type { Batch } from '../../src/store/dialects/group-commit.ts'
import { checkCommit } from '../verify/check-commit.ts'
import type { SimContext } from '../world/context.ts'
import type { Proc } from '../world/schedule.ts'
import { type WriteAccess, writeFaulty } from './faulty-write.ts'
import { away, isInjected, trouble } from './injected-errors.ts'
import { writeSharedBatch } from './write-batch.ts'

/** When connections are cut, until when a batch may run, when it has failed. */
const cutAfterMs = 3_000
const batchDeadlineMs = 4_100
const giveUpMs = 4_700
const retryPausesMs = [100, 300, 700, 1300, 2000]

/** A hanging statement fails when its connection is cut. */
export function cut(
  { world, random }: SimContext,
  proc: Proc,
  reject: (error: unknown) => void,
): void {
  world.after(random.store.between(0, cutAfterMs), proc, () => reject(away()))
}

export class SharedRecords {
  readonly #access: WriteAccess

  constructor(access: WriteAccess) {
    this.#access = access
  }

  async write(batch: Batch, gatewayId: string): Promise<void> {
    const { context, proc, failed } = this.#access
    const { world } = context
    const startMs = world.nowMs
    const deadlineMs = startMs + batchDeadlineMs
    for (let tries = 0; ; tries++) {
      try {
        return await this.#writeOnce(batch, gatewayId, deadlineMs)
      } catch (error) {
        if (!isInjected(error)) throw error
        failed(error)
        const pauseMs = retryPausesMs[tries]
        if (pauseMs !== undefined && world.nowMs + pauseMs < deadlineMs) {
          await world.pause(pauseMs, proc)
          continue
        }
        // Callers get the failure only when the database can no longer run the batch.
        await world.pause(startMs + giveUpMs - world.nowMs, proc)
        throw error
      }
    }
  }

  #writeOnce(batch: Batch, gatewayId: string, deadlineMs: number): Promise<void> {
    const { context, proc, wayMs } = this.#access
    const { world, db, random } = context
    return new Promise((resolve, reject) => {
      const arrive = () => {
        if (context.storeIsFrozen) {
          // It waits in the socket of the server until that resumes.
          cut(context, proc, reject)
          const thawMs = context.frozenUntilMs - world.nowMs
          return void world.after(thawMs + random.store.between(0, 50), undefined, arrive)
        }
        if (world.nowMs > deadlineMs) {
          const late = trouble('the batch came after its deadline')
          return void world.after(wayMs(), proc, () => reject(late))
        }
        writeFaulty(this.#access, { resolve, reject }, 'a batch', () => {
          writeSharedBatch(db, batch, gatewayId)
          world.note(`records ${batch.size}`, proc)
          checkCommit(context)
          return () => {}
        })
      }
      world.after(wayMs(), undefined, arrive)
    })
  }
}
