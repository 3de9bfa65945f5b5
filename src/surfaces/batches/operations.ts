// Files and batches as documents describe them.
import { batchEndpoints, batchStates } from '../../contract/batches/index.ts'
import {
  answered,
  bodyRefusals,
  callerRefusals,
  inPath,
  inQuery,
  json,
  type Operation,
} from '../../http/operation.ts'
import { bytes, flag, list, named, object, orNull, text, whole, word } from '../../http/schema.ts'
import { keyHeader } from '../media/operations.ts'
import { maxMetadata } from './create.ts'
import { defaultRows, maxRows } from './page.ts'

const seconds = whole(0, undefined, 'Seconds since 1970.')

const file = named(
  'File',
  object({
    id: text('`file-…`'),
    object: word(['file']),
    bytes: whole(0),
    created_at: seconds,
    expires_at: seconds,
    filename: text(),
    purpose: word(['batch', 'batch_output']),
    status: word(['processed']),
    status_details: { type: 'null' },
  }),
)

const metadata = {
  type: 'object',
  maxProperties: maxMetadata,
  additionalProperties: text(undefined, { maxLength: 512 }),
  description: 'Texts of at most 512 characters under names of at most 64.',
}

const batch = named(
  'Batch',
  object({
    id: text('`batch_…`'),
    object: word(['batch']),
    endpoint: word(batchEndpoints),
    errors: orNull(
      object({
        object: word(['list']),
        data: list(
          object({
            code: text(),
            message: text(),
            line: orNull(whole(1)),
            param: orNull(text()),
          }),
        ),
      }),
    ),
    input_file_id: text(),
    completion_window: word(['24h']),
    status: word(batchStates),
    output_file_id: orNull(text('Answers, a line each.')),
    error_file_id: orNull(text('Lines that failed or were not run.')),
    created_at: seconds,
    in_progress_at: orNull(seconds),
    expires_at: seconds,
    finalizing_at: orNull(seconds),
    completed_at: orNull(seconds),
    failed_at: orNull(seconds),
    expired_at: orNull(seconds),
    cancelling_at: orNull(seconds),
    cancelled_at: orNull(seconds),
    request_counts: object({ total: whole(0), completed: whole(0), failed: whole(0) }),
    metadata: orNull(metadata),
  }),
)

const pageOf = (name: string, item: ReturnType<typeof named>) =>
  named(
    name,
    object({
      object: word(['list']),
      data: list(item),
      first_id: orNull(text()),
      last_id: orNull(text()),
      has_more: flag(),
    }),
  )

const page = [
  inQuery('limit', whole(1, maxRows, `Rows of a page; default ${defaultRows}.`)),
  inQuery('after', text('`last_id` of the page before.')),
]
const id = inPath('id', text())
const base = { tag: 'Batches', credential: 'token' } as const
const reads = [...callerRefusals, 'rate_limit_exceeded'] as const
const ofFile = [...reads, 'file_not_found'] as const
const ofBatch = [...reads, 'batch_not_found'] as const
const creates = [...reads, ...bodyRefusals, 'insufficient_quota', 'account_stopped'] as const

const fileOperations: readonly Operation[] = [
  {
    ...base,
    id: 'uploadFile',
    method: 'post',
    path: '/v1/files',
    summary: 'Upload the input of a batch',
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: named(
            'FileForm',
            object({
              file: bytes('JSON objects, a line each.'),
              purpose: word(['batch']),
              'expires_after[anchor]?': word(['created_at']),
              'expires_after[seconds]?': text('3600 to 2592000; default 30 days.'),
            }),
          ),
        },
      },
    },
    answers: [answered(file, 'The file.')],
    refusals: creates,
  },
  {
    ...base,
    id: 'listFiles',
    method: 'get',
    path: '/v1/files',
    summary: 'List files, newest first',
    parameters: [
      ...page,
      inQuery('order', word(['asc', 'desc'])),
      inQuery('purpose', text('Only files with this purpose.')),
    ],
    answers: [answered(pageOf('FileList', file), 'A page.')],
    refusals: reads,
  },
  {
    ...base,
    id: 'retrieveFile',
    method: 'get',
    path: '/v1/files/{id}',
    summary: 'Get a file',
    parameters: [id],
    answers: [answered(file, 'The file.')],
    refusals: ofFile,
  },
  {
    ...base,
    id: 'downloadFile',
    method: 'get',
    path: '/v1/files/{id}/content',
    summary: 'Download a file',
    parameters: [id],
    answers: [
      {
        status: 200,
        description: 'Its content.',
        headers: ['content-disposition', 'content-length'],
        content: { 'application/octet-stream': { schema: bytes() } },
      },
    ],
    refusals: ofFile,
  },
  {
    ...base,
    id: 'deleteFile',
    method: 'delete',
    path: '/v1/files/{id}',
    summary: 'Delete a file',
    parameters: [id],
    answers: [
      answered(
        named('DeletedFile', object({ id: text(), object: word(['file']), deleted: flag() })),
        'It is gone.',
      ),
    ],
    refusals: [...ofFile, 'conflict'],
  },
]

export const batchesOperations: readonly Operation[] = [
  ...fileOperations,
  {
    ...base,
    id: 'createBatch',
    method: 'post',
    path: '/v1/batches',
    summary: 'Run the calls of a file',
    parameters: [keyHeader],
    body: {
      required: true,
      content: json(
        named(
          'BatchRequest',
          object(
            {
              input_file_id: text(),
              endpoint: word(batchEndpoints),
              completion_window: word(['24h']),
              'metadata?': orNull(metadata),
            },
            { additionalProperties: false },
          ),
        ),
        {
          nightly: {
            input_file_id: 'file-0192e4a1b2c3d4e5f60718293a4b5c6d',
            endpoint: '/v1/chat/completions',
            completion_window: '24h',
            metadata: { job: 'nightly' },
          },
        },
      ),
    },
    answers: [{ ...answered(batch, 'The batch, not begun.'), headers: ['idempotent-replayed'] }],
    refusals: [...creates, 'file_not_found', 'idempotency_mismatch'],
  },
  {
    ...base,
    id: 'listBatches',
    method: 'get',
    path: '/v1/batches',
    summary: 'List batches, newest first',
    parameters: page,
    answers: [answered(pageOf('BatchList', batch), 'A page.')],
    refusals: reads,
  },
  {
    ...base,
    id: 'getBatch',
    method: 'get',
    path: '/v1/batches/{id}',
    summary: 'Get a batch',
    parameters: [id],
    answers: [answered(batch, 'The batch.')],
    refusals: ofBatch,
  },
  {
    ...base,
    id: 'cancelBatch',
    method: 'post',
    path: '/v1/batches/{id}/cancel',
    summary: 'Cancel a batch',
    parameters: [id],
    answers: [answered(batch, 'The batch; lines under way still end.')],
    refusals: [...ofBatch, 'conflict'],
  },
]
