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

const rules = rulesWithout([
  'input',
  'instructions',
  'max_output_tokens',
  'previous_response_id',
  'background',
])

export function parseResponses({ text, fields }: JsonBody, x?: RequestContext): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const serverTools: ServerTool[] = []
  const extras = readExtras(fields, rules, serverTools)
  const refused = extras?.problem ?? inputProblem(fields) ?? oneAnswerIn(fields)
  if (refused !== undefined) return refused
  const stream = streamIn(fields)
  if (stream instanceof Refusal) return stream
  const background = backgroundIn(fields, stream)
  if (background instanceof Refusal) return background
  const bound = wholeNumberIn(fields, 'max_output_tokens')
  if (bound instanceof Refusal) return bound
  const references = referencesIn(fields)
  if (references instanceof Refusal) return references
  const counter = countOf(fields)
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
  if (background) call.background = background
  limitOutput(call, bound, extras, counter)
  return call
}

function countOf({ input, instructions, tools }: Fields): InputCounter {
  const counter = new InputCounter(clientTools)
  if (Array.isArray(input)) counter.messages(input)
  else counter.content(input)
  return counter.content(instructions).tools(tools)
}

/** The same for a question about its input: nothing is answered. */
export function parseCount(body: JsonBody): TextCall | Refusal {
  const call = parseResponses(body)
  return call instanceof Refusal ? call : { ...call, stream: false }
}

/** The answer is kept until it is fetched, and comes as a whole. */
function backgroundIn({ background, store }: Fields, stream: boolean): true | undefined | Refusal {
  if (background == null || background === false) return undefined
  if (background !== true) return wrong('background', "'background' must be a boolean")
  if (store === false) return wrong('store', "'background' needs 'store': the answer is kept")
  if (!stream) return true
  return wrong('stream', "'stream' cannot be used with 'background': fetch the response by its id")
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
