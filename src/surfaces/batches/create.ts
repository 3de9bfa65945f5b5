// The body that creates a batch.
import { type BatchCreate, batchEndpoints } from '../../contract/batches/index.ts'
import type { Token } from '../../contract/catalog.ts'
import { Refusal } from '../../contract/errors.ts'
import { readTags, tagsHeader } from '../../contract/tags/index.ts'
import { keysOf, plain } from '../../http/body/exact-keys.ts'
import { readJsonObject } from '../../http/body/read-json.ts'
import { answerJson, type RequestContext } from '../../http/request-context.ts'
import { isObject } from '../../lib/json/parse.ts'
import { wrong } from '../common/fields.ts'
import type { SurfaceDeps } from '../common/surface.ts'
import type { Outcome } from '../media/as-caller.ts'
import { asReplay, keyIn } from '../media/create.ts'
import { batchView } from './view.ts'

const names = ['input_file_id', 'endpoint', 'completion_window', 'metadata'] as const
const keys = keysOf(plain(...names))

export const maxMetadata = 16
const maxKeyChars = 64
const maxValueChars = 512

export async function createBatch(
  { api, limits }: SurfaceDeps,
  x: RequestContext,
  token: Token,
): Promise<Outcome> {
  const header = x.request.headers.get(tagsHeader)
  const tags = header === null ? undefined : readTags(header, token)
  const body =
    api.refusalBeforeBody(token, true) ??
    (tags instanceof Refusal ? tags : await readJsonObject(x, limits, keys))
  if (body instanceof Refusal) return body
  const create = parseBatch(body.fields)
  if (create instanceof Refusal) return create
  const key = keyIn(x)
  if (key instanceof Refusal) return key
  const created = await api.createBatch(token, {
    ...create,
    ...(header !== null && { tags: header }),
    ...(key !== null && { key }),
  })
  if (created instanceof Refusal) return created
  const response = answerJson(x, JSON.stringify(batchView(created.batch)))
  return created.replayed ? asReplay(response) : response
}

export function parseBatch(fields: Readonly<Record<string, unknown>>): BatchCreate | Refusal {
  const unknown = Object.keys(fields).find((key) => !names.includes(key as never))
  if (unknown !== undefined) {
    return wrong(unknown.slice(0, 64), `'${unknown.slice(0, 64)}' is not a field of a batch`)
  }
  const { input_file_id: inputFileId, endpoint, completion_window: window } = fields
  if (typeof inputFileId !== 'string') {
    return wrong('input_file_id', "'input_file_id' must be the id of a file")
  }
  if (typeof endpoint !== 'string' || !batchEndpoints.includes(endpoint as never)) {
    return wrong('endpoint', `'endpoint' must be one of ${batchEndpoints.join(', ')}`)
  }
  if (window !== '24h') return wrong('completion_window', "'completion_window' must be 24h")
  const metadata = readMetadata(fields['metadata'] ?? undefined)
  if (metadata instanceof Refusal) return metadata
  return { inputFileId, endpoint, ...(metadata !== undefined && { metadata }) }
}

function readMetadata(value: unknown): Record<string, string> | undefined | Refusal {
  if (value === undefined) return undefined
  if (!isObject(value)) return wrong('metadata', "'metadata' must be an object of texts")
  const entries = Object.entries(value)
  if (entries.length > maxMetadata) {
    return wrong('metadata', `'metadata' may have at most ${maxMetadata} entries`)
  }
  for (const [key, text] of entries) {
    if (typeof text !== 'string' || text.length > maxValueChars || key.length > maxKeyChars) {
      const message = `'metadata' takes texts of at most ${maxValueChars} characters under names of at most ${maxKeyChars}`
      return wrong('metadata', message)
    }
  }
  return value as Record<string, string>
}
