// Files of accounts and batches of calls; a part of schema.ts.
import type { BatchState, FilePurpose } from '../contract/batches/index.ts'

/**
 *   held ─> uploaded ─> created ─> adopting ─> ended
 *     └────────┴───────────┴─────> refused: the gateway makes the calls itself
 */
export type PartState = 'held' | 'uploaded' | 'created' | 'adopting' | 'ended' | 'refused'

export interface BatchTables {
  account_files: {
    id: string
    account_id: string
    filename: string
    purpose: FilePurpose
    bytes: number
    /** `pending`: its content is being written. `gone`: its content is being removed. */
    state: 'pending' | 'kept' | 'gone'
    /** The store that has its content, under the file's id. */
    place: string
    /** As stored: encrypted. */
    stored_bytes: number
    created_at_ms: number
    expires_at_ms: number
  }
  /** Contents, where the database keeps them; base64. */
  file_parts: { name: string; number: number; body: string }
  batches: {
    id: string
    account_id: string
    token_id: string
    endpoint: string
    input_file_id: string
    state: BatchState
    total: number
    completed: number
    failed: number
    charge_nanos: bigint
    output_file_id: string | null
    error_file_id: string | null
    created_at_ms: number
    expires_at_ms: number
    /** The gateway that runs it. */
    owner: string | null
    /** Counts the owners. */
    fence: number
    tags: string | null
    /** JSON: metadata, errors, times. */
    body: string
  }
  /** Lines that were given to the batch API of an upstream. */
  batch_parts: {
    id: string
    batch_id: string
    account_id: string
    state: PartState
    channel_id: string
    protocol: string
    upstream_model: string
    key_fingerprint: string
    hold_nanos: bigint
    file_id: string | null
    upstream_id: string | null
    /** JSON: their numbers. */
    lines: string
    created_at_ms: number
    /** When its hold ended. */
    released_at_ms: number | null
  }
  batch_lines: {
    batch_id: string
    /** From 1. */
    line: number
    /** Of its call; null: none was made. */
    request_id: string | null
    failed: number
    /** The line of the output or error file, encrypted. */
    answer: string
  }
}
