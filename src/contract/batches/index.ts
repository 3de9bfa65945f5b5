// Files of an account, and batches: calls in a file that the gateway makes in its own time.
import type { Token } from '../catalog.ts'
import type { Refusal } from '../errors.ts'

export type FilePurpose = 'batch' | 'batch_output'

export interface AccountFile {
  id: string
  accountId: string
  filename: string
  purpose: FilePurpose
  bytes: number
  createdAtMs: number
  expiresAtMs: number
}

/** Content that has arrived, under the id that its file will have. */
export interface ReceivedFile {
  id: string
  bytes: number
}

export interface FileTerms {
  filename: string
  expiresAfterSeconds?: number
}

export interface IdPage {
  limit: number
  /** Continues after this one. */
  after?: string | undefined
  order?: 'asc' | 'desc' | undefined
}

/**
 *   validating ─> in_progress ─> finalizing ─> completed
 *        │             ├───────> finalizing ─> expired
 *        └─> failed    └───────> cancelling ─> cancelled
 */
export const batchStates = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const
export type BatchState = (typeof batchStates)[number]

export const liveBatchStates = [
  'validating',
  'in_progress',
  'finalizing',
  'cancelling',
] as const satisfies readonly BatchState[]

/** Interfaces that lines may be for. */
export const batchEndpoints = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
] as const

export interface BatchError {
  code: string
  message: string
  line: number | null
  param: string | null
}

/** When it came to each state. */
type BatchTimes = Partial<Record<`${Exclude<BatchState, 'validating'>}AtMs`, number>>

export interface Batch extends BatchTimes {
  id: string
  accountId: string
  tokenId: string
  endpoint: string
  inputFileId: string
  state: BatchState
  total: number
  completed: number
  failed: number
  chargeNanos: bigint
  outputFileId?: string
  errorFileId?: string
  createdAtMs: number
  expiresAtMs: number
  /** As its header gave them; for every line. */
  tags?: string
  metadata?: Readonly<Record<string, string>>
  errors?: readonly BatchError[]
  /** How it ends once its files are written. */
  ending?: 'completed' | 'expired' | 'cancelled'
}

export interface BatchCreate {
  inputFileId: string
  endpoint: string
  metadata?: Readonly<Record<string, string>>
  tags?: string
  /** Idempotency key: a repeated create gets the first one's batch. */
  key?: string
}

export interface CreatedBatch {
  /** As it was when it was made. */
  batch: Batch
  replayed: boolean
}

export const maxFileBytes = 100 * 1024 * 1024
export const maxBatchLines = 50_000

type Maybe<Result> = Promise<Result | Refusal>

/** What a surface may ask of the engine about files and batches. Others' are not found. */
export interface BatchApi {
  /** Keeps content as it comes. It is no file of the account before `keepFile`. */
  receiveFile(token: Token, content: AsyncIterable<Uint8Array>): Maybe<ReceivedFile>
  keepFile(token: Token, received: ReceivedFile, terms: FileTerms): Maybe<AccountFile>
  /** Removes content that becomes no file. */
  dropReceived(received: ReceivedFile): Promise<void>
  findFile(token: Token, id: string): Maybe<AccountFile>
  listFiles(token: Token, page: IdPage & { purpose?: string }): Maybe<AccountFile[]>
  openFile(token: Token, id: string): Maybe<{ file: AccountFile; body: ReadableStream<Uint8Array> }>
  deleteFile(token: Token, id: string): Maybe<AccountFile>
  createBatch(token: Token, create: BatchCreate): Maybe<CreatedBatch>
  findBatch(token: Token, id: string): Maybe<Batch>
  listBatches(token: Token, page: IdPage): Maybe<Batch[]>
  cancelBatch(token: Token, id: string): Maybe<Batch>
}
