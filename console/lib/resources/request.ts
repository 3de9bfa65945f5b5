// A request and its explanation as the admin API shows them, and the ways to ask it again.
import type { Price } from './price.ts'

export interface Attempt {
  channel: string
  key?: number
  after_ms: number
  ms: number
  status?: number
  error?: string
}

interface Usage {
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
}

/** Of a request that made a video or images. */
interface TaskUsage {
  output_seconds: number | null
  video_tokens: number | null
  pictures?: number
}

export interface LoggedRequest {
  request_id: string
  at: string
  account: string | null
  token: string | null
  interface: string
  model: string
  /** Members are not sent these. */
  channel?: string | null
  upstream_model?: string | null
  upstream_request_id?: string
  status: number
  error_code: string | null
  error: string | null
  ending: string
  stream: boolean
  charge: string
  loss?: string
  usage: Usage | TaskUsage | null
  usage_reported: unknown
  estimated: boolean
  price_id: string | null
  first_byte_ms: number | null
  total_ms: number
  task_id?: string
  trace_id?: string
  attempts?: Attempt[]
}

export interface Explanation {
  currency: string
  price: Price | null
  tier: string | null
  charge: string
  steps: string[]
  entries: { id: string; at: string; kind: string; amount: string; note: string | null }[]
}

/** Where calls of an interface go. */
const pathOf: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  videos: '/v1/videos',
  imgvendor: '/imgvendor/v1/images/generations',
  arkvendor: '/arkvendor/api/v3/contents/generations/tasks',
  vendorg: '/vendorg/v1beta/models/{model}:predictLongRunning',
}

/** One word to a shell, whatever is in it: callers choose what is here, operators paste it. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export function curlFor(url: string, { interface: use, model, stream }: LoggedRequest): string {
  const path = pathOf[use] ?? '/v1/chat/completions'
  const address = `${url}${path.replace('{model}', () => encodeURIComponent(model))}`
  const body = JSON.stringify({ model, ...(stream && { stream }), '…': 'your body' })
  return `curl ${quoted(address)} \\
  -H "Authorization: Bearer YOUR_TOKEN" -H "Content-Type: application/json" \\
  -d ${quoted(body)}`
}

/** Where the playground asks it again; a task knows what it was asked for. */
export function playgroundPath({ interface: use, model, task_id }: LoggedRequest): string {
  if (task_id !== undefined) return `/playground?task=${encodeURIComponent(task_id)}`
  return `/playground?use=${encodeURIComponent(use)}&model=${encodeURIComponent(model)}`
}
