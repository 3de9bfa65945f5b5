// The embeddings request: what the gateway itself must know of it. Everything else passes.

import { Refusal } from '../../contract/errors.ts'
import type { InputBound, TextCall } from '../../contract/requests.ts'
import type { JsonBody } from '../../http/body/read-json.ts'
import { countTokens } from '../../lib/text/count-tokens.ts'
import { modelIn, wrong } from '../common/fields.ts'
import { templateTokens } from '../text/count-input.ts'
import { extraProblem, rulesWithout } from '../text/extra-fields.ts'
import { wholeNumberIn } from '../text/fields.ts'
import { encodings, maxInputs } from './request-fields.ts'

const rules = rulesWithout(['input'])

export function parseEmbeddings({ text, fields }: JsonBody): TextCall | Refusal {
  const model = modelIn(fields)
  if (model instanceof Refusal) return model
  const refused = extraProblem(fields, rules)
  if (refused !== undefined) return refused
  const inputTokens = countInput(fields['input'])
  if (inputTokens instanceof Refusal) return inputTokens
  const encoding = fields['encoding_format']
  if (encoding != null && !(encodings as readonly unknown[]).includes(encoding)) {
    return wrong('encoding_format', "'encoding_format' must be 'float' or 'base64'")
  }
  const dimensions = wholeNumberIn(fields, 'dimensions')
  if (dimensions instanceof Refusal) return dimensions
  return {
    interface: 'embeddings',
    model,
    stream: false,
    wantsUsage: true,
    body: text,
    fields,
    inputTokens,
    inputBound: boundOf(text, fields['input']),
    // Nothing is written, and what is read is known.
    maxOutputTokens: 0,
    choices: 1,
  }
}

/** A text, texts, or the same as numbered tokens. */
function countInput(input: unknown): number | Refusal {
  if (typeof input === 'string' && input !== '') return countTokens(input)
  if (!Array.isArray(input) || input.length === 0) {
    return wrong('input', "'input' must be a non-empty string or array")
  }
  if (input.every((each) => typeof each === 'number')) return input.length
  if (input.length > maxInputs) return wrong('input', `'input' has more than ${maxInputs} entries`)
  let total = 0
  for (const [index, each] of input.entries()) {
    if (typeof each === 'string') total += countTokens(each)
    else if (isTokens(each)) total += each.length
    else return wrong('input', `'input[${index}]' must be a string or a list of numbers`)
  }
  return total
}

/** A numbered token takes two bytes at least: its digit and what parts it from the next. */
function boundOf(text: string, input: unknown): InputBound {
  const inputs = Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1
  const { perCall, perMessage } = templateTokens
  const maxTextTokens = Buffer.byteLength(text) + perCall + inputs * perMessage
  return { maxTextTokens, images: 0, isOpen: false, inputs }
}

const isTokens = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number')
