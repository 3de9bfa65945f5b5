// Rows of subscriptions to notices. Secrets are ciphertext here; decryption happens elsewhere.
import type { Kysely, Selectable } from 'kysely'
import type { Source } from '../../contract/catalog.ts'
import type { ErrorRateRule, NoticeFormat, NoticeType } from '../../contract/notices/webhooks.ts'
import type { Schema } from '../schema.ts'

export interface Webhook {
  id: string
  /** An http address, or `mailto:` and an e-mail address. */
  address: string
  /** Absent: the notice as JSON. */
  format?: NoticeFormat
  events: readonly NoticeType[]
  rules: readonly ErrorRateRule[]
  /** Absent for e-mail, and where a chat tool does not ask for one. */
  secretCiphertext?: string
  disabled: boolean
  source: Source
  createdAtMs: number
}

/** In order of creation; their number is bounded. */
export async function listWebhooks(db: Kysely<Schema>): Promise<Webhook[]> {
  const rows = await db.selectFrom('webhooks').selectAll().orderBy('id').execute()
  return rows.map(shape)
}

export async function findWebhook(db: Kysely<Schema>, id: string): Promise<Webhook | undefined> {
  const row = await db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst()
  return row && shape(row)
}

/** Adds it, or replaces the one with its id. */
export async function putWebhook(tx: Kysely<Schema>, webhook: Webhook): Promise<void> {
  const { id, ...cells } = cellsOf(webhook)
  await tx
    .insertInto('webhooks')
    .values({ id, ...cells })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(cells))
    .execute()
}

/** With its deliveries. */
export async function deleteWebhook(tx: Kysely<Schema>, id: string): Promise<void> {
  await tx
    .deleteFrom('notice_attempts')
    .where('delivery_id', 'in', (e) =>
      e.selectFrom('notice_deliveries').select('id').where('webhook_id', '=', id),
    )
    .execute()
  await tx.deleteFrom('notice_deliveries').where('webhook_id', '=', id).execute()
  await tx.deleteFrom('webhooks').where('id', '=', id).execute()
}

const cellsOf = ({ id, address, format, events, rules, ...rest }: Webhook) => ({
  id,
  address,
  body: JSON.stringify({ events, rules, format }),
  secret: rest.secretCiphertext ?? null,
  disabled: rest.disabled ? 1 : 0,
  source: rest.source,
  created_at_ms: rest.createdAtMs,
})

function shape(row: Selectable<Schema['webhooks']>): Webhook {
  type Body = Pick<Webhook, 'events' | 'rules' | 'format'>
  const { events, rules, format } = JSON.parse(row.body) as Body
  return {
    id: row.id,
    address: row.address,
    ...(format !== undefined && { format }),
    events,
    rules,
    ...(row.secret !== null && { secretCiphertext: row.secret }),
    disabled: row.disabled === 1,
    source: row.source as Source,
    createdAtMs: row.created_at_ms,
  }
}
