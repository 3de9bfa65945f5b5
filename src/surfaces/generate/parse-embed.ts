// Embeddings in the generate style: one content, or a batch of requests for one each.
import { Refusal, refuse } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { isObject } from '../../lib/json/parse.ts'
import { type Fields, wrong } from '../common/fields.ts'
import { extraProblem, rulesWithout } from '../text/extra-fields.ts'
import { ContentCounter } from './count-input.ts'
import { givenTwice } from './fields.ts'
import { embedNames } from './keys.ts'
import { pathModel } from './parse.ts'

/** More than any upstream takes at once; each has its own, smaller limit. */
export const maxRequests = 4_096
/** Of a batch, which is written anew for its upstream; far more than any upstream takes. */
const maxBatchLetters = 4 * 1024 * 1024

const rules = rulesWithout(['content', 'requests'])

export function parseEmbed(body: JsonBody, modelName: string): TextCall | Refusal {
  const { fields } = body
  const model = pathModel(modelName, fields)
  if (model instanceof Refusal) return model
  const problem = embedProblem(fields, '')
  if (problem !== undefined) return problem
  const input = new ContentCounter().contents(fields['content'])
  return callOf(body, model, 'embedContent', input, 1)
}

export function parseBatch(body: JsonBody, modelName: string): TextCall | Refusal {
  const { fields } = body
  const model = pathModel(modelName, fields)
  if (model instanceof Refusal) return model
  const { requests } = fields
  if (!Array.isArray(requests) || requests.length === 0) {
    return wrong('requests', "'requests' must be a non-empty array")
  }
  if (requests.length > maxRequests) {
    return wrong('requests', `'requests' has more than ${maxRequests} entries`)
  }
  if (body.text.length > maxBatchLetters) {
    return refuse('request_too_large', `a batch may have at most ${maxBatchLetters} letters`)
  }
  const input = new ContentCounter()
  for (let i = 0; i < requests.length; i++) {
    const request: unknown = requests[i]
    if (!isObject(request)) return wrong('requests', `'requests[${i}]' must be an object`)
    const named = pathModel(modelName, request)
    if (named instanceof Refusal) return wrong(`requests[${i}].model`, named.message)
    const problem = embedProblem(request, `requests[${i}].`)
    if (problem !== undefined) return problem
    input.contents(request['content'])
  }
  return (
    extraProblem(fields, rules) ?? callOf(body, model, 'batchEmbedContents', input, requests.length)
  )
}

function embedProblem(request: Fields, at: string): Refusal | undefined {
  const twice = givenTwice(request, embedNames, at)
  if (twice !== undefined) return twice
  return isObject(request['content'])
    ? extraProblem(request, rules)
    : wrong(`${at}content`, `'${at}content' must be an object`)
}

function callOf(
  { text, fields }: JsonBody,
  model: string,
  method: string,
  input: ContentCounter,
  inputs: number,
): TextCall | Refusal {
  if (input.problem !== undefined) return input.problem
  return {
    interface: 'generate',
    model,
    method,
    makes: 'embedding',
    stream: false,
    wantsUsage: true,
    body: text,
    fields,
    inputTokens: input.tokens,
    inputBound: input.bound(text, inputs),
    // Nothing is written, and what is read is known.
    maxOutputTokens: 0,
    choices: 1,
  }
}
