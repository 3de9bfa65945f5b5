// Connections whose transaction stays open and so do not see later commits. Starting a thread costs
// far more than a small audit, so the last one is kept for a while.
import type { Store } from '../../store.ts'
import { kyselyOverThread } from './dialect.ts'
import { DatabaseThread } from './thread.ts'

const idleMs = 10_000

export function openSnapshots(file: string): {
  open: Store['snapshot']
  close(): Promise<void>
} {
  let idle: DatabaseThread | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false

  const take = async (): Promise<DatabaseThread> => {
    const kept = idle
    idle = undefined
    clearTimeout(timer)
    if (kept !== undefined) return kept
    const thread = new DatabaseThread()
    await thread.ask({ kind: 'open', role: 'reader', file })
    return thread
  }
  const drop = async () => {
    const old = idle
    idle = undefined
    clearTimeout(timer)
    await old?.close()
  }
  const giveBack = async (thread: DatabaseThread) => {
    await thread.ask({ kind: 'rollback' })
    if (closed || idle !== undefined) return thread.close()
    idle = thread
    timer = setTimeout(() => void drop().catch(() => {}), idleMs)
    timer.unref()
  }

  return {
    async open() {
      const thread = await take()
      await thread.ask({ kind: 'query', sql: 'BEGIN', parameters: [] })
      return {
        db: kyselyOverThread((question) => thread.ask(question)),
        end: () => giveBack(thread),
      }
    },
    async close() {
      closed = true
      await drop()
    },
  }
}
