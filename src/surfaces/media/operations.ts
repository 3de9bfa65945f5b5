// Descriptions that image and video interfaces share: creates, media by address or as bytes, downloads.
// Knows no dialect.
import type { RefusalCode } from '../../contract/errors.ts'
import {
  type Answer,
  callerRefusals,
  type HeaderName,
  inHeader,
  type Parameter,
  rateNames,
  workRefusals,
} from '../../http/operation.ts'
import { bytes, either, object, open, text } from '../../http/schema.ts'

/** An `Idempotency-Key` makes a repeated create return the first task. */
export const keyHeader: Parameter = inHeader(
  'Idempotency-Key',
  text('The same key and body within 30 days: the first answer again.', {
    pattern: '^[\\x20-\\x7e]{1,255}$',
  }),
)

export const createHeaders: readonly HeaderName[] = [...rateNames, 'idempotent-replayed']

/** For everything that makes images or videos. */
export const createRefusals: readonly RefusalCode[] = [
  ...workRefusals,
  'idempotency_mismatch',
  'idempotency_in_flight',
  'upstream_outcome_unknown',
  'upstream_task_lost',
  'no_output',
  'result_download_failed',
  'too_many_images',
]

export const cancelRefusals: readonly RefusalCode[] = [
  ...callerRefusals,
  'task_not_cancellable',
  'upstream_error',
  'upstream_invalid_request',
  'upstream_invalid_response',
  'upstream_permission_denied',
  'upstream_rate_limited',
  'upstream_timeout',
  'upstream_unreachable',
]

/** As `isAddress`, except for what only a URL parser can find. */
const addressPattern = '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\u0000-\\u001f\\u007f-\\u009f]+$'
/** Blanks and line ends are ignored. */
const base64Text = '(?:\\s*[A-Za-z0-9+/])+(?:\\s*=){0,2}\\s*$'
const inlinePattern = `^\\s*[Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[A-Za-z0-9.+-]{1,64};[Bb][Aa][Ss][Ee]64,${base64Text}`
export const base64Pattern = `^${base64Text}`

export const videoAddress = text('Public http or https address.', {
  pattern: addressPattern,
  maxLength: 8_192,
})

export const imageAddress = text('Public http or https address, or data:image/…;base64,….', {
  pattern: `${addressPattern}|${inlinePattern}`,
})

/** `{image_url: '…'}` and `{image_url: {url: '…'}}` mean the same. */
export const imageObject = object(
  { image_url: either(imageAddress, object({ url: imageAddress }, open)) },
  open,
)

const downloadHeaders: readonly HeaderName[] = [
  'accept-ranges',
  'content-disposition',
  'content-length',
  'content-range',
  'etag',
]

export const rangeHeaders: readonly Parameter[] = [
  inHeader('Range', text('Such as `bytes=0-1023`.')),
  inHeader('If-Range', text('The `ETag` that the range is of.')),
  inHeader('If-None-Match', text('An `ETag`; the same content is answered with 304.')),
]

/** A file, whole or in part, from the gateway or the store. */
export const downloadAnswers = (types: readonly string[]): readonly Answer[] => {
  const content = Object.fromEntries(types.map((type) => [type, { schema: bytes() }]))
  return [
    { status: 200, description: 'The file.', headers: downloadHeaders, content },
    { status: 206, description: 'The part asked for.', headers: downloadHeaders, content },
    { status: 302, description: 'Where the file is kept.', headers: ['location'] },
    { status: 304, description: 'Unchanged.', headers: ['etag'] },
  ]
}

export const downloadRefusals: readonly RefusalCode[] = [
  'internal_error',
  'overloaded',
  'invalid_request',
  'video_expired',
  'video_not_available',
  'range_not_satisfiable',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_timeout',
  'upstream_unreachable',
]
