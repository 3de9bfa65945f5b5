// The messages request: what the gateway itself must know of it. Everything else passes.

import { Refusal } from '../../contract/errors.ts'
import type { ServerTool, TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { isObject } from '../../lib/json/parse.ts'
import { modelIn, wrong } from '../common/fields.ts'
import { InputCounter } from '../text/count-input.ts'
import { limitOutput, readExtras, rulesWithout } from '../text/extra-fields.ts'
import { oneAnswerIn, streamIn, wholeNumberIn } from '../text/fields.ts'

/** Run by the caller; the last is a search in the caller's own tools. */
const clientTools = [
  undefined,
  'custom',
  'bash_',
  'text_editor_',
  'computer_',
  'memory_',
  'tool_search_tool_',
] as const

const rules = rulesWithout(['messages', 'system', 'max_tokens'])

export function parseMessages(body: JsonBody, x: RequestContext): TextCall | Refusal {
  const call = parseCount(body, x)
  if (call instanceof Refusal) return call
  const stream = streamIn(body.fields)
  if (stream instanceof Refusal) return stream
  const bound = wholeNumberIn(body.fields, 'max_tokens')
  if (bound instanceof Refusal) return bound
  if (bound === undefined) return wrong('max_tokens', "'max_tokens' must be a whole number")
  call.stream = stream
  return call
}

/** The same without what only matters to an answer. */
export function parseCount({ text, fields }: JsonBody, x: RequestContext): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const serverTools: ServerTool[] = []
  const extras = readExtras(fields, rules, serverTools)
  const refused = extras?.problem ?? oneAnswerIn(fields)
  if (refused !== undefined) return refused
  const { messages, input: items, system, tools, max_tokens: bound } = fields
  if (messages == null && items != null) {
    const right = 'POST /v1/responses'
    return wrong('input', `this path takes 'messages'; a request with 'input' goes to ${right}`)
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    return wrong('messages', "'messages' must be a non-empty array")
  }
  const odd = messages.findIndex((each) => !isObject(each) || typeof each['role'] !== 'string')
  if (odd !== -1) return wrong('messages', `'messages[${odd}]' must be an object with a 'role'`)
  const dialect = dialectOf(x)
  if (dialect instanceof Refusal) return dialect
  const input = new InputCounter(clientTools).messages(messages).content(system).tools(tools)
  if (input.problem !== undefined) return input.problem
  if (extras?.isOpen) input.open()
  serverTools.push(...input.serverTools)
  const call: TextCall = {
    interface: 'messages',
    model,
    stream: false,
    wantsUsage: true,
    body: text,
    fields,
    inputTokens: input.tokens,
    inputBound: input.bound(text),
    choices: 1,
    ...(serverTools.length > 0 && { serverTools }),
    dialect,
  }
  limitOutput(call, typeof bound === 'number' ? bound : undefined, extras, input)
  return call
}

const maxHeader = 2_048
const printable = /^[\x20-\x7e]*$/

/** Both spellings mean the same. Values are passed on, known or not. */
function dialectOf(x: RequestContext): { version?: string; beta?: string } | Refusal {
  const { headers } = x.request
  const found: { version?: string; beta?: string } = {}
  for (const part of ['version', 'beta'] as const) {
    const value = headers.get(`msgapi-${part}`) || headers.get(`anthropic-${part}`)
    if (!value) continue
    if (value.length > maxHeader || !printable.test(value)) {
      return wrong(`msgapi-${part}`, `the header 'msgapi-${part}' cannot be passed on`)
    }
    found[part] = value
  }
  return found
}
