// A request and its explanation as the admin API shows them, and the ways to ask it again.
import type { LoggedRequest } from '../../../src/admin/traffic/request-schema.ts'

export type {
  Attempt,
  Explanation,
  LoggedRequest,
  TaskUsage,
  TokenUsage as Usage,
} from '../../../src/admin/traffic/request-schema.ts'

/** Where calls of an interface go. */
const pathOf: Readonly<Record<string, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  generate: '/vendorg/v1beta/models/{model}:generateContent',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  videos: '/v1/videos',
  imgvendor: '/imgvendor/v1/images/generations',
  arkvendor: '/arkvendor/api/v3/contents/generations/tasks',
  vendorg: '/vendorg/v1beta/models/{model}:predictLongRunning',
}

/** Where their streams go, if elsewhere. */
const streamPathOf: Readonly<Record<string, string>> = {
  generate: '/vendorg/v1beta/models/{model}:streamGenerateContent?alt=sse',
}

/** One word to a shell, whatever is in it: callers choose what is here, operators paste it. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export function curlFor(url: string, { interface: use, model, stream }: LoggedRequest): string {
  const path = (stream ? streamPathOf[use] : undefined) ?? pathOf[use] ?? '/v1/chat/completions'
  const address = `${url}${path.replace('{model}', () => encodeURIComponent(model))}`
  const isNamed = !path.includes('{model}')
  const body = JSON.stringify({
    ...(isNamed && { model, ...(stream && { stream }) }),
    '…': 'your body',
  })
  return `curl ${quoted(address)} \\
  -H "Authorization: Bearer YOUR_TOKEN" -H "Content-Type: application/json" \\
  -d ${quoted(body)}`
}

/** Where the playground asks it again; a task knows what it was asked for. */
export function playgroundPath({ interface: use, model, task_id }: LoggedRequest): string {
  if (task_id !== undefined) return `/playground?task=${encodeURIComponent(task_id)}`
  return `/playground?use=${encodeURIComponent(use)}&model=${encodeURIComponent(model)}`
}

/** How fast the answer came, from its first byte to its end; only a stream shows that. */
export function tokensPerSecond(request: LoggedRequest): number | undefined {
  const { stream, usage, first_byte_ms, total_ms } = request
  const tokens = usage?.output_tokens
  if (!stream || tokens === undefined || first_byte_ms === null) return undefined
  const ms = total_ms - first_byte_ms
  return ms <= 0 ? undefined : Math.round((tokens / ms) * 10_000) / 10
}
