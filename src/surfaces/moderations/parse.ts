// The moderation request: what the gateway itself must know of it. Everything else passes.
import { Refusal } from '../../contract/errors.ts'
import type { TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { isObject } from '../../lib/json/parse.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { modelIn, wrong } from '../common/fields.ts'
import { templateTokens } from '../text/count-input.ts'
import { extraProblem, rulesWithout } from '../text/extra-fields.ts'
import { foreignIn } from '../text/refuse-extras.ts'
import { maxInputs } from './request-fields.ts'

const rules = rulesWithout(['input'])
const one = { counted: 1, max: 1, plausible: 1, isEstimate: false }

export function parseModerations({ text, fields }: JsonBody): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const refused = extraProblem(fields, rules)
  if (refused !== undefined) return refused
  const input = readInput(fields['input'])
  if (input instanceof Refusal) return input
  const kept = foreignIn(fields['input'])
  if (kept !== undefined) return kept
  const { tokens, images, inputs } = input
  const { perCall, perMessage } = templateTokens
  const maxTextTokens = Buffer.byteLength(text) + perCall + inputs * perMessage
  return {
    interface: 'moderations',
    model,
    makes: 'moderation',
    stream: false,
    wantsUsage: true,
    body: text,
    fields,
    inputTokens: tokens,
    inputBound: { maxTextTokens, images, isOpen: false, inputs },
    maxOutputTokens: 0,
    choices: 1,
    quantity: one,
  }
}

interface Input {
  tokens: number
  images: number
  inputs: number
}

function readInput(input: unknown): Input | Refusal {
  if (typeof input === 'string' && input !== '') {
    return { tokens: countTokens(input), images: 0, inputs: 1 }
  }
  if (!Array.isArray(input) || input.length === 0) {
    return wrong('input', "'input' must be a non-empty string or array")
  }
  if (input.length > maxInputs) return wrong('input', `'input' has more than ${maxInputs} entries`)
  const read: Input = { tokens: 0, images: 0, inputs: input.length }
  for (const [index, each] of input.entries()) {
    const text = textIn(each)
    if (text !== undefined) read.tokens += countTokens(text)
    else if (isImage(each)) read.images++
    else
      return wrong('input', `'input[${index}]' must be a string, {type: text} or {type: image_url}`)
  }
  return read
}

function textIn(each: unknown): string | undefined {
  const text: unknown = isObject(each) && each['type'] === 'text' ? each['text'] : each
  return typeof text === 'string' ? text : undefined
}

const isImage = (each: unknown): boolean =>
  isObject(each) &&
  each['type'] === 'image_url' &&
  isObject(each['image_url']) &&
  typeof each['image_url']['url'] === 'string' &&
  each['image_url']['url'] !== ''
