// The tables of exports as Kysely sees them; a part of schema.ts.

export interface ExportTables {
  exports: ExportsTable
  /** Compressed bytes of the file, in order of number. */
  export_chunks: { export_id: string; number: number; body: Uint8Array }
}

/** An export job, running or finished. */
interface ExportsTable {
  id: string
  created_at_ms: number
  actor: string
  person_id: string | null
  account_id: string | null
  kind: string
  format: string
  /** JSON filters of the list. */
  filters: string
  state: 'waiting' | 'running' | 'done' | 'failed' | 'dropped'
  /** Position of the next chunk. */
  place: string | null
  row_count: number
  total_rows: number | null
  bytes: number
  stored_bytes: number
  chunks: number
  is_cut: number
  error: string | null
  /** Attempts since the last chunk. */
  attempts: number
  lease_owner: string | null
  lease_until_ms: number
  finished_at_ms: number | null
  expires_at_ms: number
}
