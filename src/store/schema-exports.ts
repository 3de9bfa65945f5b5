// The tables of exports as Kysely sees them; a part of schema.ts.

export interface ExportTables {
  exports: ExportsTable
  /** Packed bytes of the file, in order of their numbers. */
  export_pieces: { export_id: string; number: number; body: Uint8Array }
}

/** A list that is being written into a file, or was. */
interface ExportsTable {
  id: string
  created_at_ms: number
  actor: string
  person_id: string | null
  account_id: string | null
  kind: string
  format: string
  /** JSON, as the list takes them. */
  filters: string
  state: 'waiting' | 'running' | 'done' | 'failed' | 'dropped'
  /** Where the next piece goes on. */
  place: string | null
  row_count: number
  total_rows: number | null
  bytes: number
  stored_bytes: number
  pieces: number
  is_cut: number
  error: string | null
  /** Since the last piece. */
  attempts: number
  lease_owner: string | null
  lease_until_ms: number
  finished_at_ms: number | null
  expires_at_ms: number
}
