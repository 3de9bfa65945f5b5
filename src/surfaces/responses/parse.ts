// The responses request: what the gateway itself must know of it. Everything else passes.

import { Refusal, unknownObject } from '../../contract/errors.ts'
import type { Reference, ServerTool, TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, modelIn, wrong } from '../common/fields.ts'
import { InputCounter } from '../text/count-input.ts'
import { limitOutput, readExtras, rulesWithout } from '../text/extra-fields.ts'
import { oneAnswerIn, streamIn, wholeNumberIn } from '../text/fields.ts'

/** Run by the caller, or made of such tools. */
const clientTools = [
  'function',
  'custom',
  'namespace',
  'tool_search',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
  'computer-preview',
  undefined,
] as const

const rules = rulesWithout(['input', 'instructions', 'max_output_tokens', 'previous_response_id'])

export function parseResponses({ text, fields }: JsonBody, x?: RequestContext): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const serverTools: ServerTool[] = []
  const extras = readExtras(fields, rules, serverTools)
  const refused = extras?.problem ?? inputProblem(fields) ?? oneAnswerIn(fields)
  if (refused !== undefined) return refused
  const stream = streamIn(fields)
  if (stream instanceof Refusal) return stream
  const bound = wholeNumberIn(fields, 'max_output_tokens')
  if (bound instanceof Refusal) return bound
  const references = referencesIn(fields)
  if (references instanceof Refusal) return references
  const { input, instructions, tools } = fields
  const counter = new InputCounter(clientTools)
  if (Array.isArray(input)) counter.messages(input)
  else counter.content(input)
  counter.content(instructions).tools(tools)
  if (extras?.isOpen || references.some(isBare)) counter.open()
  if (counter.problem !== undefined) return counter.problem
  serverTools.push(...counter.serverTools)
  const call: TextCall = {
    interface: 'responses',
    model,
    stream,
    wantsUsage: true,
    body: text,
    ...(x !== undefined && isCodingTool(x) && { codingTool: true as const }),
    fields,
    inputTokens: counter.tokens,
    inputBound: counter.bound(text),
    choices: 1,
    ...(serverTools.length > 0 && { serverTools }),
    ...(references.length > 0 && { references }),
  }
  limitOutput(call, bound, extras, counter)
  return call
}

/** The same for a question about its input: nothing is answered. */
export function parseCount(body: JsonBody): TextCall | Refusal {
  const call = parseResponses(body)
  return call instanceof Refusal ? call : { ...call, stream: false }
}

/** A text or a list; an earlier response may stand in for it. */
function inputProblem(fields: Fields): Refusal | undefined {
  const { input, messages } = fields
  if (input == null && messages != null) {
    const right = 'POST /v1/chat/completions or POST /v1/messages'
    return wrong('messages', `this path takes 'input'; a request with 'messages' goes to ${right}`)
  }
  if (input == null) {
    return fields['previous_response_id'] == null
      ? wrong('input', "'input' must be a string or an array")
      : undefined
  }
  if (typeof input === 'string') return undefined
  if (!Array.isArray(input)) return wrong('input', "'input' must be a string or an array")
  const odd = input.findIndex((item) => !isObject(item))
  return odd === -1 ? undefined : wrong('input', `'input[${odd}]' must be an object`)
}

const isBare = ({ item }: Reference): boolean => item === undefined

/** Ids that stand for something kept upstream, or for an item that is also there itself. */
function referencesIn({ previous_response_id: previous, input }: Fields): Reference[] | Refusal {
  const found: Reference[] = []
  if (previous != null) {
    const param = 'previous_response_id'
    if (typeof previous !== 'string') return unknownObject(param)
    found.push({ param, id: previous })
  }
  if (!Array.isArray(input)) return found
  for (let index = 0; index < input.length; index++) {
    const { id, type, role } = input[index] as Fields
    const isReference = type === 'item_reference' || (type == null && role == null && id != null)
    if (isReference) {
      if (typeof id !== 'string') return unknownObject('item_reference')
      found.push({ param: 'item_reference', id })
    } else if (id != null) found.push({ param: 'input', id: String(id), item: index })
  }
  return found
}

/** It names itself in one of these headers. */
const isCodingTool = ({ request: { headers } }: RequestContext): boolean =>
  headers.get('originator')?.startsWith('codex') === true || headers.has('x-codex-turn-state')
