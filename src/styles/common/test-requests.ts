// Requests for tests: reads and writes them, and tells what was lost or refused.
import { Refusal } from '../../contract/errors.ts'
import type { Conversation, Json } from './conversation.ts'
import { parseExact } from './exact-json.ts'
import { Losses } from './losses.ts'
import type { Style, Target } from './style.ts'
import { envelopes, target } from './test-answers.ts'
import { ToolNames } from './tool-names.ts'

/** Undefined where the request is refused; then `param` names the field. */
interface ReadRequest {
  conversation: Conversation
  losses: string[]
  param: string | undefined
}

export function readRequest(style: Style, fields: Json): ReadRequest {
  const losses = new Losses()
  const body = JSON.stringify(fields)
  const exact = parseExact(body) as Json
  const read = style.readRequest({ fields: exact, body, envelopes }, losses)
  const refused = read instanceof Refusal ? read : undefined
  return {
    conversation: read as Conversation,
    losses: losses.names,
    param: refused === undefined ? undefined : (refused.extras.param ?? 'none'),
  }
}

interface WrittenRequest {
  body: Json
  losses: string[]
  param: string | undefined
}

export function writeRequest(
  style: Style,
  conversation: Conversation,
  to: Target = target(),
): WrittenRequest {
  const losses = new Losses()
  const names = new ToolNames(conversation.tools, style.toolName)
  const written = style.writeRequest(conversation, to, names, losses)
  const refused = written instanceof Refusal ? written : undefined
  return {
    body: written as Json,
    losses: losses.names,
    param: refused === undefined ? undefined : (refused.extras.param ?? 'none'),
  }
}

/** What a writer makes of a conversation, read again. */
export function roundTrip(
  style: Style,
  given: Conversation,
  to: Target = target(),
): { conversation: Omit<Conversation, 'fieldNames'>; losses: string[] } {
  const { body, losses, param } = writeRequest(style, given, to)
  if (param !== undefined) throw new Error(`refused: ${param}`)
  const read = readRequest(style, body)
  if (read.param !== undefined) throw new Error(`not read: ${read.param}`)
  const { fieldNames: _, ...conversation } = read.conversation
  return { conversation, losses: [...losses, ...read.losses] }
}
