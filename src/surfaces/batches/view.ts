// Files and batches as callers see them.
import type { AccountFile, Batch } from '../../contract/batches/index.ts'

const seconds = (ms: number): number => Math.floor(ms / 1000)
const orNull = (ms: number | undefined): number | null => (ms === undefined ? null : seconds(ms))

export const fileView = (file: AccountFile) => ({
  id: file.id,
  object: 'file',
  bytes: file.bytes,
  created_at: seconds(file.createdAtMs),
  expires_at: seconds(file.expiresAtMs),
  filename: file.filename,
  purpose: file.purpose,
  status: 'processed',
  status_details: null,
})

export const batchView = (batch: Batch) => ({
  id: batch.id,
  object: 'batch',
  endpoint: batch.endpoint,
  errors: batch.errors === undefined ? null : { object: 'list', data: batch.errors },
  input_file_id: batch.inputFileId,
  completion_window: '24h',
  status: batch.state,
  output_file_id: batch.outputFileId ?? null,
  error_file_id: batch.errorFileId ?? null,
  created_at: seconds(batch.createdAtMs),
  in_progress_at: orNull(batch.in_progressAtMs),
  expires_at: seconds(batch.expiresAtMs),
  finalizing_at: orNull(batch.finalizingAtMs),
  completed_at: orNull(batch.completedAtMs),
  failed_at: orNull(batch.failedAtMs),
  expired_at: orNull(batch.expiredAtMs),
  cancelling_at: orNull(batch.cancellingAtMs),
  cancelled_at: orNull(batch.cancelledAtMs),
  request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
  metadata: batch.metadata ?? null,
})
