// Requests in the shape of the responses style on the path of this one: some editors send those and
// expect a chat completion. They are rewritten as chat requests, and what that changes is noted.
import { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { containersIn } from '../../lib/json/containers.ts'
import { isObject } from '../../lib/json/parse.ts'
import { nextTurn } from '../../lib/turns.ts'
import { chat } from '../../styles/chat/index.ts'
import { createEnvelopes } from '../../styles/common/envelope.ts'
import { parseExact } from '../../styles/common/exact-json.ts'
import { Growth, grownTooLarge, maxBytesFor } from '../../styles/common/growth.ts'
import { Losses } from '../../styles/common/losses.ts'
import { ToolNames } from '../../styles/common/tool-names.ts'
import { responses } from '../../styles/responses/index.ts'
import { usualSettings } from '../../styles/settings.ts'
import { wrong } from '../common/fields.ts'

export const hasItems = ({ fields }: JsonBody): boolean =>
  fields['input'] != null && fields['messages'] == null

/** Nothing in it was sealed by this gateway for an answer of this style. */
const envelopes = createEnvelopes(new Uint8Array(32))
/** Callers get their own names back, so they stay as they are. */
const anyName = /^/
/** What an upstream cannot do is decided when it is chosen. */
const settings = {
  ...usualSettings.chat,
  instructions: 'anywhere',
  documents: true,
  freeFormTools: true,
} as const

type Rewritten = Required<Pick<TextCall, 'rewritten'>> & { body: JsonBody }

/** They are rewritten at once; what takes longer has its own path. */
const maxRewrittenBytes = 4 * 1024 * 1024
const maxContainers = 8_000

export function readItems(body: JsonBody): Rewritten | Refusal {
  const steps = rewriting(body)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Each step of a large one takes ten milliseconds or more. */
export async function readItemsInTurns(body: JsonBody): Promise<Rewritten | Refusal> {
  const steps = rewriting(body)
  for (;;) {
    await nextTurn()
    const { done, value } = steps.next()
    if (done) return value
  }
}

function isTooLarge({ text, fields }: JsonBody): boolean {
  const { input } = fields
  return (
    text.length > maxRewrittenBytes ||
    (Array.isArray(input) && input.length >= maxContainers) ||
    containersIn(fields, maxContainers) >= maxContainers
  )
}

const tooLarge = wrong('input', "'input' is too large for this path; send it to /v1/responses")

type Steps = Generator<undefined, Rewritten | Refusal, undefined>

function* rewriting(body: JsonBody): Steps {
  if (isTooLarge(body)) return tooLarge
  const { text, fields: shallow } = body
  const losses = new Losses()
  const exact = parseExact(text)
  const fields = isObject(exact) ? exact : shallow
  yield
  const { stream_options: options, ...rest } = fields
  const conversation = responses.readRequest({ fields: rest, body: text, envelopes }, losses)
  if (conversation instanceof Refusal) return conversation
  yield
  const target = {
    model: String(fields['model'] ?? ''),
    stream: false,
    maxOutputTokens: Number.MAX_SAFE_INTEGER,
    strict: false,
    envelopes,
    realm: '',
    settings,
    growth: new Growth(maxBytesFor(Buffer.byteLength(text), Number.POSITIVE_INFINITY)),
  }
  const names = new ToolNames(conversation.tools, anyName)
  const request = chat.writeRequest(conversation, target, names, losses)
  if (request instanceof Refusal) return request
  yield
  const { stream } = fields
  const written = {
    ...request,
    ...(stream != null && { stream }),
    ...(options != null && { stream_options: options }),
  }
  const made = JSON.stringify(written)
  const { maxBytes } = target.growth
  if (Buffer.byteLength(made) > maxBytes) return grownTooLarge('input', maxBytes)
  yield
  return {
    body: { text: made, fields: written },
    rewritten: { path: 'responses>chat', losses: losses.names },
  }
}
