// An entry without a receipt, with the fields that its receipt and hourly totals take from other tables.
import type { Selectable } from 'kysely'
import type { Schema } from '../schema.ts'

export interface PendingRow extends Selectable<Schema['entries']> {
  spent_with: string
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
}
