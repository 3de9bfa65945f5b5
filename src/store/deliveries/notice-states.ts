// What has been told of a subject, as a text of the notice's type. A state is replaced only while it is
// the one that was read, so that of several gateways one tells what follows from it.
import type { Kysely } from 'kysely'
import type { NoticeType } from '../../contract/notices/webhooks.ts'
import type { Schema } from '../schema.ts'

export interface StateChange {
  /** As it was read; undefined: there was none. */
  before: string | undefined
  after: string
}

/** False when it is another than `before`: the transaction must change nothing. */
export async function changeState(
  tx: Kysely<Schema>,
  type: NoticeType,
  subject: string,
  { before, after: body, atMs }: StateChange & { atMs: number },
): Promise<boolean> {
  if (before === undefined) {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('notice_states')
      .values({ type, subject, reporter: '', body, at_ms: atMs })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    return numInsertedOrUpdatedRows === 1n
  }
  const { numUpdatedRows } = await tx
    .updateTable('notice_states')
    .set({ body, at_ms: atMs })
    .where((e) => e.and({ type, subject, reporter: '', body: before }))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
