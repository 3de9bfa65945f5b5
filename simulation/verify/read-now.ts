// Reads of the end of a world by the gateway's own functions: at once, without faults.
import type { Kysely } from 'kysely'
import type { Schema } from '../../src/store/schema.ts'
import { kyselyOver } from '../gateway/database.ts'
import type { SimContext } from '../world/context.ts'

/** Everything that the reading waits for must be reads. */
export function readNow(
  { world, db }: SimContext,
  work: (read: Kysely<Schema>) => Promise<void>,
): void {
  const read = kyselyOver({
    ask: async (sql, parameters) => db.query(sql, parameters),
    begin: async () => {},
    commit: async () => {},
    rollback: async () => {},
  })
  let isDone = false
  world.after(0, undefined, () => {
    void work(read).then(
      () => {
        isDone = true
      },
      (error) => world.addViolation(`the books cannot be read: ${error?.stack ?? error}`),
    )
  })
  world.run(world.nowMs)
  if (!isDone && world.violations.length === 0) {
    world.addViolation('the books cannot be read: something is awaited')
  }
}
